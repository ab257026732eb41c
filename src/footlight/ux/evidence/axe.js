const results = await axe.run(document, {
  resultTypes: ['violations'],
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { 'target-size': { enabled: true } },
});
const first = target => target.flat(Infinity);
const elementOf = target => {
  let root = document, element = null;
  for (const selector of first(target)) {
    element = root?.querySelector(selector);
    root = element?.shadowRoot;
  }
  return element;
};
return {
  version: results.testEngine.version,
  violations: results.violations.map(rule => ({
    id: rule.id,
    impact: rule.impact,
    help: rule.help,
    description: rule.description,
    helpUrl: rule.helpUrl,
    count: rule.nodes.length,
    elements: rule.nodes.slice(0, MOST_ELEMENTS).map(node => {
      const element = elementOf(node.target);
      const note = [...node.any, ...node.all, ...node.none].map(check => check.message).join('; ');
      return element
        ? describe(element, note)
        : { selector: first(node.target).join(' '), html: node.html.slice(0, 300), text: '', note, box: null };
    }),
  })),
};
