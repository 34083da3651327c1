/** A search over everything, with its key, and without JavaScript. */
import t from 'tap';
import { DESKTOP, openPage, optionsOf } from '../../support/pages/browser.ts';
import { inspectPage, pressEnter } from '../../support/pages/service-page.ts';
import { withFilledService } from '../../support/services/filled-service.ts';

const TEXT = 'Where is parcel <b>7</b>?';

void t.test('a search finds everything by name, sessions by id and by what is said', async (t) => {
  const { service, admin } = await withFilledService(t, TEXT);
  const search = async (text: string): Promise<Map<string, string>> => {
    const query = new URLSearchParams({ q: text });
    const response = await fetch(`${service.url}/search?${query.toString()}`, {
      headers: { accept: 'text/html' },
    });
    t.equal(response.status, 200);
    const [, ...groups] = (await response.text()).split('<main')[1]?.split('<h2>') ?? [];
    return new Map(
      groups.map((group) => [
        group.split('</h2>')[0] ?? '',
        /href="([^"]*)"/.exec(group)?.[1] ?? '',
      ]),
    );
  };
  const found = await search('PARCEL <B>');
  t.same(
    [...found.keys()],
    [
      ...['Agents', 'Scenarios', 'Personas', 'Evals', 'Runs', 'Simulations'],
      ...['Production sessions that say it'],
    ],
  );
  t.match(
    [...found.values()],
    [
      ...['/agents/agent', '/scenarios/greeting', '/personas/calm', '/evals/edit?id=polite'],
      ...[/^\/production-eval\/\d+$/, /^\/simulation\//, /^\/production-eval\/\d+\?sessionId=/],
    ],
  );
  t.same([...(await search('frien'))], [['Conversations', '/conversation?id=friendly']]);
  const id = new URLSearchParams(found.get('Production sessions that say it')?.split('?')[1]).get(
    'sessionId',
  );
  t.ok((await search((id ?? '').slice(0, 8))).has('Sessions with this id'));
  t.equal((await search('%')).size, 0, 'no pattern');
  t.equal((await search('not said anywhere')).size, 0);
  const street = { id: 'street', name: 'Straße', kind: 'contains', params: { text: 'x' } };
  await admin('POST /evals', street);
  t.ok((await search('STRASSE')).has('Evals'), 'in any case, as in other searches');
  const many = Array.from({ length: 12 }, (_, nth) => ({
    id: `many-${nth}`,
    name: `Many ${nth}`,
    kind: 'contains',
    params: { text: 'x' },
  }));
  for (const definition of many) await admin('POST /evals', definition);
  t.equal((await search('many')).get('Evals'), '/evals/edit?id=many-0');
  const html = await (
    await fetch(`${service.url}/search?q=many`, { headers: { accept: 'text/html' } })
  ).text();
  t.equal(html.match(/edit\?id=many/g)?.length, 10, 'bounded');
  t.match(html, 'All that match');
  const long = await fetch(`${service.url}/search?q=${'x'.repeat(201)}`, {
    headers: { accept: 'text/html' },
  });
  t.equal(long.status, 400);
  await inspectPage(t, `${service.url}/search?q=parcel`);

  await t.test('the keys search, list themselves, and lead to pages', async (t) => {
    const { page } = await openPage(t, `${service.url}/`, optionsOf(DESKTOP));
    await page.keyboard.press('/');
    await page.keyboard.type('polite?');
    t.equal(await page.inputValue('nav [name=q]'), 'polite?', 'keys are text in a field');
    await page.fill('nav [name=q]', 'parcel');
    await pressEnter(page);
    t.match(page.url(), /\/search\?q=parcel$/);
    await page.keyboard.press('?');
    t.match(await page.innerText('dialog[open]'), /\/\s*Search.*g s\s*Sessions/s);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('r')]);
    t.match(page.url(), /\/runs$/);
    await page.keyboard.press('?');
    await page.uncheck('dialog [data-single-keys]');
    await page.keyboard.press('Escape');
    await page.reload();
    await page.keyboard.press('/');
    await page.keyboard.type('x');
    t.equal(await page.inputValue('nav [name=q]'), '', 'the keys are off');
  });

  await t.test('the keys go through the rows of a list, and through its sessions', async (t) => {
    const { page } = await openPage(t, `${service.url}/evals`, optionsOf(DESKTOP));
    const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()');
    const names = await page.locator('tbody th a').allInnerTexts();
    await page.keyboard.press('j');
    t.equal(await focused(), names[0]);
    await page.keyboard.press('j');
    t.equal(await focused(), names[1]);
    for (let nth = 0; nth < names.length; nth += 1) await page.keyboard.press('j');
    t.equal(await focused(), names.at(-1), 'ends at the last row');
    await page.keyboard.press('k');
    t.equal(await focused(), names.at(-2));
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    t.match(page.url(), '/evals/edit?id=');

    await page.goto(`${service.url}/sessions?kind=production`);
    const [first, second] = await page.locator('tbody th a').allInnerTexts();
    await page.keyboard.press('j');
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    t.equal(await page.innerText('h1'), first);
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('j')]);
    t.equal(await page.innerText('h1'), second, 'the next session of the list');
  });

  await t.test('the field works without JavaScript', async (t) => {
    const options = { ...optionsOf(DESKTOP), javaScriptEnabled: false };
    const { page } = await openPage(t, `${service.url}/agents`, options);
    await page.locator('nav [name=q]').fill('greeting');
    await page.locator('nav [name=q]').press('Enter');
    await page.waitForURL('**/search?q=greeting');
    t.ok(
      await page
        .getByRole('main')
        .getByRole('link', { name: /parcel/ })
        .count(),
    );
  });
});
