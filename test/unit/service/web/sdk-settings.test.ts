/** The settings of SDKs on the page about exporters. */
import t from 'tap';
import { renderSdkSettings } from '../../../../src/service/web/overview/sdk-settings.ts';

void t.test('the SDK that sent unreadable spans comes first, open', (t) => {
  const all = [
    { name: 'Alpha', texts: [] },
    { name: 'Beta', texts: ['Set a variable.'] },
  ];
  const openNames = (about: Readonly<Record<string, string>>): string[] =>
    renderSdkSettings(all, [{ about }])
      .text.split('<details ')
      .slice(1)
      .flatMap((part) => (part.startsWith('open') ? (/Alpha|Beta/.exec(part)?.[0] ?? []) : []));
  t.same(openNames({ sdk: 'Beta' }), ['Beta']);
  t.match(renderSdkSettings(all, [{ about: { sdk: 'Beta' } }]).text, /Beta[^]*Alpha/);
  t.same(openNames({ scope: 'Beta' }), []);
  t.end();
});
