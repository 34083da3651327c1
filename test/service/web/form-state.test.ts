/** What forms and lists keep: chosen scenarios after a mistake, the owner, and no notice of the past. */
import t, { type Test } from 'tap';
import { withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';

const HTML = { accept: 'text/html' };

/** Reads a page. */
async function read({ service }: ServiceUnderTest, path: string): Promise<string> {
  return (await fetch(service.url + path, { headers: HTML })).text();
}

/** Sends a form as a page of the service does, and returns the page that responds. */
async function submit(
  t: Test,
  tested: ServiceUnderTest,
  path: string,
  { status, fields }: { status: number; fields: [name: string, value: string][] },
): Promise<string> {
  const { url } = tested.service;
  const [, token = ''] = /name="_token" value="(\w+)"/.exec(await read(tested, '/settings')) ?? [];
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { ...HTML, origin: url },
    body: new URLSearchParams([['_token', token], ...fields]),
  });
  t.equal(response.status, status, path);
  return response.text();
}

void t.test(
  'scenarios that were chosen on another page survive a mistake in the form',
  async (t) => {
    const tested = await withEmptyService(t);
    const { admin } = tested;
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' });
    for (let nth = 1; nth <= 52; nth += 1) {
      await admin('POST /scenarios', makeScenario({ id: `s-${nth}`, name: `Scenario ${nth}` }));
    }
    const chosen: [string, string][] = ['s-1', 's-51', 's-52'].map((id) => ['scenario', id]);
    const page = await submit(t, tested, '/scenarios/run', {
      status: 400,
      fields: [['agent', 'shop'], ['samples', 'many'], ...chosen],
    });
    t.match(page, 'Enter a whole number from 1 to 1,000');
    t.match(page, '2 chosen scenarios on other pages will run, too.');
    const names = [
      ...page.matchAll(
        /<input\s+type="(checkbox|hidden)"\s+name="scenario"\s+value="([\w-]+)"[^>]*>/g,
      ),
    ];
    const kept = names.filter(([input, type]) => type === 'hidden' || /\schecked/.test(input));
    t.same(kept.map(([, , id]) => id).sort(), ['s-1', 's-51', 's-52']);
  },
);

void t.test('a second click on Start leads to the simulation of the first', async (t) => {
  const tested = await withEmptyService(t);
  const { admin } = tested;
  const { url } = await withSandboxDouble(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url });
  await admin('POST /scenarios', makeScenario({ id: 's' }));
  const chosen: [string, string][] = [
    ['agent', 'shop'],
    ['scenario', 's'],
  ];
  const review = (): Promise<string> =>
    submit(t, tested, '/scenarios/run', { status: 200, fields: chosen });
  const start = (page: string): Promise<string> => {
    const [, id = ''] = /name="request_id"\s+value="([\w-]+)"/.exec(page) ?? [];
    const fields: [string, string][] = [...chosen, ['start', 'yes'], ['request_id', id]];
    return submit(t, tested, '/scenarios/run', { status: 200, fields });
  };
  const page = await review();
  const pages = await Promise.all([start(page), start(page)]);
  pages.push(await start(page));
  const titles = new Set(pages.map((each) => /\/simulation\/sim_\w+/.exec(each)?.[0]));
  t.equal(titles.size, 1, 'all three show the same simulation');
  t.match(await admin('GET /simulations'), { simulations: { length: 1 } });
  await start(await read(tested, '/scenarios/s'));
  await start(await review());
  t.match(
    await admin('GET /simulations'),
    { simulations: { length: 3 } },
    'other pages start more',
  );
});

void t.test('a scenario leads to the eval that it refers to', async (t) => {
  const tested = await withEmptyService(t);
  await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
  await tested.admin('POST /scenarios', makeScenario({ id: 's', evals: ['polite'] }));
  const [, link = ''] =
    /href="(\/evals\/[^"]*polite)"/.exec(await read(tested, '/scenarios/s')) ?? [];
  t.match(await read(tested, link), '<h1>Eval polite</h1>');
});

void t.test(
  'the links between the pages of a list keep the owner, and drop the notice',
  async (t) => {
    const tested = await withService(t);
    for (let nth = 0; nth <= 50; nth += 1) {
      await tested.admin(`POST /evals`, makeContainsEval(`e-${nth}`, 'please'));
    }
    const evals = await read(tested, '/evals?notice=saved');
    t.match(evals, 'The eval was saved.');
    t.match(evals, 'href="/evals?skip=50"');
    for (let nth = 0; nth <= 50; nth += 1) await tested.admin('POST /keys', { owner: 'team b' });
    const keys = await submit(t, tested, '/keys/generate?owner=team+b', {
      status: 400,
      fields: [['label', 'x'.repeat(101)]],
    });
    t.match(keys, 'href="/keys?owner=team+b&amp;skip=50"');
  },
);

void t.test('an agent can keep its name, and not take that of another agent', async (t) => {
  const tested = await withEmptyService(t);
  for (const id of ['one', 'two']) {
    await tested.admin('POST /agents', { id, name: `Agent ${id}`, url: 'http://127.0.0.1:9' });
  }
  const change = (name: string): [string, string][] => [
    ['name', name],
    ['url', 'http://127.0.0.1:9/v2'],
  ];
  const fields = change('Agent one');
  const page = await submit(t, tested, '/agents/two', { status: 400, fields });
  t.match(page, 'An agent with this name already exists.');
  await submit(t, tested, '/agents/one', { status: 200, fields });
  t.match(await tested.admin('GET /agents/one'), { url: 'http://127.0.0.1:9/v2' });
});
