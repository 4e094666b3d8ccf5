// What is bright and what is dimmed once a search has chosen its first node: the body of a function.
const typed = (element, key) => element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
search.value = 'planted';
search.dispatchEvent(new Event('input'));
typed(search, 'Enter');
const opacity = (element) => getComputedStyle(element).opacity;
const chosen = graph.nodes.findIndex((node) => node.element.classList.contains('selected'));
const edges = graph.edges.filter((edge) => edge.from === chosen || edge.to === chosen);
const ends = [chosen, ...edges.map((edge) => (edge.from === chosen ? edge.to : edge.from))];
// Nearby, and on the map.
const opacities = (elements) => [...new Set([1, 0.1].flatMap((scale) => {
  move(0, 0, scale);
  return elements.map(opacity);
}))].join(' ');
const bright = ends.map((end) => graph.nodes[end].name + ' ' + opacities([graph.nodes[end].element]));
bright.push('edges ' + opacities(edges.map((edge) => edge.element)));
move(0, 0, 1);
const dimmed = graph.nodes.filter((node) => opacity(node.element) < 0.5).map((node) => node.name).sort();
return bright.join(', ') + '; dimmed ' + dimmed.join(' ');
