import t from 'tap';
import { html } from '../../../src/report-kit/html.ts';

void t.test(
  'a template escapes text, joins lists, and leaves out what is undefined or false',
  (t) => {
    const items = ['<a>', 'b'].map((text) => html`<li>${text}</li>`);
    t.equal(html`${items}`.text, '<li>&lt;a&gt;</li>\n<li>b</li>');
    t.equal(html`[${undefined}${items.length > 2 && html`<b>many</b>`}]`.text, '[]');
    t.equal(html`${items.length > 1 && html`<b>some</b>`} ${0}`.text, '<b>some</b> 0');
    t.end();
  },
);
