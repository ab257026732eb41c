// Words in the names and addresses of links, in the languages that are supported. In another language a problem may be
// missed, but there is no false alarm.

/** @type {(words: string[], flags: string) => RegExp} */
const anyOf = (words, flags) => new RegExp(words.join("|"), flags);

/** Requesting these addresses could end a session or change something, if the site changes state on GET. */
// biome-ignore format: a table
export const CHANGES = anyOf([
  'log[-_]?(out|off)', 'sign[-_]?(out|off)', 'abmelden', 'ausloggen', 'd[ée]connexion', 'cerrar[-_]?sesion',
  'delete', 'destroy', 'remove', 'discard', 'cancel', 'revoke', 'deactivate', 'disable', 'l[öo]e?schen', 'supprimer', 'eliminar',
  'unsubscribe', 'opt[-_]?out', 'abbestellen', 'add[-_]?to', '(cart|basket|wishlist)/(add|remove|empty)', 'token=',
  '[?&](action|do|cmd|op|delete|remove|add)=', '/(add|buy|vote|like|follow|confirm|approve|toggle|reset|execute|run|trigger)\\b',
], 'i');

export const TO_TOP = /\b(top|up|oben|anfang|haut|arriba|inicio|su|topo|boven|góry)\b|[↑⇧▲⌃]|トップ|上/iu;

/** Names that do not say where the link leads. */
// biome-ignore format: a table
export const VAGUE = new RegExp(`^(${[
  'click( here)?', 'here', '(read|learn|see|find out|show|view) more', 'more( info(rmation)?)?', 'details?',
  'view', 'link', 'this( page| link)?', 'continue( reading)?', 'go',
  'hier( klicken)?', 'klicken sie hier', 'mehr( erfahren| lesen| infos?)?', 'weiter(lesen)?', 'zum artikel',
  '(cliquez )?ici', 'en savoir plus', 'lire (la suite|plus)', 'voir plus', 'plus',
  '(haz |haga )?clic aquí', 'aquí', '(leer|ver|saber) más', 'más( información)?',
  '(clicca )?qui', '(leggi|scopri) (di più|tutto)', 'altro', '(klik )?hier', 'lees (meer|verder)', 'meer( info)?',
  '(clique )?aqui', '(leia|saiba|ver) mais', 'läs mer', 'tutaj', 'więcej', 'czytaj (więcej|dalej)',
  'подробнее', 'читать далее', '詳細', '詳しく(はこちら)?', 'こちら', '続きを読む', '更多', '查看详情',
].join('|')})$`, 'iu');

/** Words that announce that a link opens a window. */
// biome-ignore format: a table
export const NEW_WINDOW = anyOf([
  '\\b(new|other|another|separate)\\b.*\\b(window|tab|page)\\b', 'neue[nsm]?\\s.*(fenster|tab)', 'nouve(l|lle|au)\\s.*(fenêtre|onglet)',
  'nueva (ventana|pestaña)', 'nuova (finestra|scheda)', 'nieuw (venster|tabblad)', 'nova (janela|guia|aba)', 'nowy[mn]? (oknie|karcie)',
  'extern(al|e|o)?\\b', 'esterno', '新しい(ウィンドウ|タブ)', '新窗口', '[↗⧉🡕⬀]',
], 'iu');
