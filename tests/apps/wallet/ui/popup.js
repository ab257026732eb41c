// The popup is the wallet in a small window.

import "./home.js";
