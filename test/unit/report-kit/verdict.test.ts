import t from 'tap';
import { renderVerdict, VERDICT_CSS } from '../../../src/report-kit/verdict.ts';

void t.test('a verdict is a badge with a word, and a shape for each color', (t) => {
  t.equal(renderVerdict('fail', 'a < b').text, '<b class="badge fail">a &lt; b</b>');
  const shapes = Array.from(
    VERDICT_CSS.matchAll(/\.badge[^{]*::before \{ content: '(.)\u00a0' \/ ''; \}/gu),
    ([, shape]) => shape,
  );
  t.same(shapes, [...new Set(shapes)], 'no two colors have the same shape');
  t.same(shapes, ['–', '✓', '✗', '?', 'i']);
  t.end();
});
