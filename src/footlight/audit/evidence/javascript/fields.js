// The fields of the page's forms: how each is labelled, and its purpose, if that is certain.

import { allElements, isVisible, oneLine, own, textOf } from "./dom.js";

export const elements = allElements();
const NO_FIELDS = ["hidden", "submit", "button", "reset", "image"];
/** @type {(each: AnyElement) => boolean} */
const isField = (each) => {
  const isNamedSo = own.matches(each, "input, select, textarea");
  return isNamedSo && each.type !== undefined && !NO_FIELDS.includes(each.type); // Others are not of HTML.
};
const TYPED = ["text", "email", "tel", "url", "password", "search", "number"];
/** @type {(each: AnyElement) => boolean} */
export const isTyped = (each) =>
  own.localName(each) === "textarea" || (own.localName(each) === "input" && TYPED.includes(each.type ?? ""));
export const fields = elements.filter((each) => isField(each) && !own.matches(each, ":disabled") && isVisible(each));
export const typed = fields.filter((each) => isTyped(each) && !each.readOnly);

/**
 * Return the elements whose ids an attribute lists.
 *
 * @type {(element: AnyElement, attribute: string) => AnyElement[]}
 */
export function elementsByIds(element, attribute) {
  const ids = (own.getAttribute(element, attribute) ?? "").split(/\s+/).filter(Boolean);
  return ids
    .map((id) => /** @type {ShadowRoot} */ (own.getRootNode(element)).querySelector(`#${CSS.escape(id)}`))
    .filter((each) => each !== null);
}

/**
 * Return the labels that are shown beside the field.
 *
 * @type {(field: AnyElement) => AnyElement[]}
 */
export function labelsOf(field) {
  return [...(field.labels ?? []), ...elementsByIds(field, "aria-labelledby")];
}

/**
 * Return whether the element is visible, and not only for screen readers: clipped, moved away or one pixel large.
 *
 * @type {(element: AnyElement) => boolean}
 */
export function isShown(element) {
  const box = own.getBoundingClientRect(element),
    style = getComputedStyle(element);
  const isClipped = style.position === "absolute" && (style.clipPath !== "none" || style.clip !== "auto");
  return (
    isVisible(element) &&
    box.width > 2 &&
    box.height > 2 &&
    box.right + scrollX > 0 &&
    !isClipped &&
    textOf(element) !== ""
  );
}

/** @type {(field: AnyElement) => string} */
export function labelOf(field) {
  const texts = labelsOf(field)
    .flatMap((each) => [...own.childNodes(each)])
    .filter((each) => each !== field)
    .map((each) => own.textContent(each));
  const text = texts.join(" ").trim();
  return oneLine(text || field.getAttribute("aria-label") || field.title || field.placeholder);
}

/**
 * Return the fields that are sent together with this one.
 *
 * @type {(field: AnyElement) => AnyElement | null}
 */
export const formOf = (field) => field.form ?? field.closest("[role=form], dialog, [role=dialog]");
/** @type {(field: AnyElement) => AnyElement[]} */
export const fellowsOf = (field) => fields.filter((each) => formOf(each) && formOf(each) === formOf(field));
export const forms = [...new Set(fields.map(formOf).filter((each) => each !== null))];
const BUTTONS = "button, input[type=submit], input[type=image], input[type=button], [role=button], a[onclick]";
/** @type {(form: AnyElement) => AnyElement[]} */
export const buttonsOf = (form) =>
  elements.filter((each) => own.matches(each, BUTTONS) && (each.form === form || own.contains(form, each)));

// The purpose of a field by its whole label or name, without decoration.
/** @type {Record<string, string>} */
const PURPOSES = {
  email:
    "email|e ?mail address|your e ?mail( address)?|e ?mail|mail|e ?mail adresse|deine e ?mail( adresse)?|ihre e ?mail( adresse)?|adresse e ?mail|courriel|correo( electrónico)?|indirizzo e ?mail|e ?mailadres|endereço de e ?mail|adres e ?mail|e ?post(adress)?|user ?email|customer ?email|メールアドレス|邮箱|电子邮件",
  tel: "tel|phone|telephone|phone number|telephone number|mobile( number)?|mobile phone( number)?|your phone number|telefon( ?nummer)?|handy( ?nummer)?|rufnummer|téléphone|numéro de téléphone|teléfono|número de teléfono|telefono|numero di telefono|telefoon( ?nummer)?|telefone|電話番号|手机号",
  "given-name":
    "first name|given name|forename|vorname|prénom|nombre|nome|voornaam|imię|förnamn|fname|firstname|givenname|first",
  "family-name":
    "last name|family name|surname|nachname|familienname|nom( de famille)?|apellidos?|cognome|achternaam|nazwisko|efternamn|lname|lastname|familyname|last",
  name: "name|full name|your name|your full name|vor und nachname|nom complet|nombre completo|nome completo|nome e cognome|volledige naam|fullname|お名前",
  "street-address":
    "street|address|street address|address line 1|straße|strasse|straße (und|&) hausnummer|anschrift|adresse|rue|dirección|calle|indirizzo|via|adres|straat|endereço|address1|streetaddress",
  "postal-code":
    "post ?code|postal code|zip|zip code|plz|postleitzahl|code postal|código postal|cap|cep|kod pocztowy|zipcode|postnummer|郵便番号",
  "address-level2":
    "city|town|town or city|city town|ort|stadt|wohnort|ville|ciudad|città|comune|plaats|woonplaats|cidade|miasto|stad",
  "one-time-code":
    "one time code|one time password|otp|verification code|security code from (your )?(app|phone|sms)|authentication code|two factor code|2fa code|totp|einmalcode|bestätigungscode|code de vérification|código de verificación|codice di verifica|sms code",
  "cc-number":
    "card number|credit card number|kartennummer|kreditkartennummer|numéro de carte|número de tarjeta|numero (della )?carta|cardnumber|ccnumber",
  url: "website|web site|homepage|your website|website url|site web|sitio web|sito web",
  password:
    "password|passwort|kennwort|mot de passe|contraseña|wachtwoord|senha|hasło|lösenord|パスワード|密码|your password|current password|new password|choose a password|create a password|confirm password|password confirmation|repeat password",
};
/** @type {[string, RegExp][]} */
const MATCHERS = Object.entries(PURPOSES).map(([purpose, words]) => [purpose, new RegExp(`^(${words})$`, "iu")]);

/** @type {(text: string) => string} */
const plain = (text) =>
  text
    .replace(/\([^()]*\)|[*:✱＊?!]/g, " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[-_.[\]/]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/**
 * Return the purpose of a field, or '' if it is not certain. The label decides; the field's name only if there is no
 * label.
 *
 * @type {(field: AnyElement) => string}
 */
export function purposeOf(field) {
  if (!isTyped(field) || field.localName === "textarea") return "";
  const label = plain(labelOf(field)) || plain(field.name || field.id);
  return MATCHERS.find(([, words]) => words.test(label))?.[0] ?? "";
}

/**
 * Return the last word of `autocomplete`, which names the value; the words before it say whose value it is.
 *
 * @type {(field: AnyElement) => string}
 */
export function autocompleteOf(field) {
  const words = (field.getAttribute("autocomplete") ?? "").trim().toLowerCase().split(/\s+/);
  return words.filter((each) => each !== "webauthn").at(-1) ?? "";
}
