// The HTML of the whole document, with its document type.

/** @returns {string} */
export function readDocument() {
  const type = document.doctype ? `${new XMLSerializer().serializeToString(document.doctype)}\n` : "";
  return type + document.documentElement.outerHTML;
}
