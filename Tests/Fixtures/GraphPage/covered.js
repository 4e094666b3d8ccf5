// How many boxes a title covers, at any scale: the body of a function.
let covered = 0;
const box = (element) => element.getBoundingClientRect();
for (const scale of [1, 0.5, 0.39, 0.3, 0.21, 0.19, 0.1]) {
  move(0, 0, scale);
  const shapes = [...document.querySelectorAll('.node .shape')]
    .filter((shape) => getComputedStyle(shape.parentElement).opacity !== '0').map(box);
  for (const title of [...document.querySelectorAll('#titles text')].map(box)) {
    covered += shapes.filter((shape) => shape.left < title.right && title.left < shape.right
      && shape.top + 1 < title.bottom && title.top < shape.bottom - 1).length;
  }
}
return covered;
