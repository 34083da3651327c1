/** A form that was loaded before somebody else saved does not overwrite unseen values. */
import t from 'tap';
import type { Page } from 'playwright-core';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton } from '../../support/pages/service-page.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval } from '../../support/services/service.ts';

const NOT_SAVED = 'Not saved: this was changed meanwhile';

/** A form that two tabs have open. */
interface Case {
  path: string;
  button: string;
  /** The summary that opens the form. */
  summary?: string;
  field: string;
  /** What the first and the second tab enter. */
  values: [first: string, second: string];
}

const scenarioText = (name: string): string => JSON.stringify(makeScenario({ id: 'late', name }));

const cases: Record<string, Case> = {
  settings: {
    path: '/settings',
    button: 'Save',
    field: 'run_name',
    values: ['First tab', 'Second tab'],
  },
  'an agent': {
    path: '/agents/shop',
    button: 'Save',
    summary: 'Settings',
    field: 'url',
    values: ['http://127.0.0.1:3001', 'http://127.0.0.1:3002'],
  },
  'an eval': {
    path: '/evals/edit?id=way',
    button: 'Save',
    field: '/name',
    values: ['First name', 'Second name'],
  },
  'an eval as JSON': {
    path: '/evals/edit?id=way&as=json',
    button: 'Save',
    field: 'definition',
    values: [
      JSON.stringify(makeContainsEval('way', 'first', { name: 'First JSON' })),
      JSON.stringify(makeContainsEval('way', 'second', { name: 'Second JSON' })),
    ],
  },
  'a scenario': {
    path: '/scenarios/late',
    button: 'Save',
    summary: 'Edit the scenario',
    field: 'text',
    values: [scenarioText('First scenario'), scenarioText('Second scenario')],
  },
  'the voice of a persona': {
    path: '/personas/calm',
    button: 'Save the voice',
    summary: 'Edit the voice',
    field: '/speed',
    values: ['1.1', '1.2'],
  },
};

for (const [subject, { path, button, summary, field, values }] of Object.entries(cases)) {
  void t.test(`two tabs edit ${subject}: the second one sees both values`, async (t) => {
    const { service, admin } = await withEmptyService(t);
    await admin('POST /evals', makeContainsEval('way', 'on its way'));
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:3000' });
    await admin('POST /personas', { id: 'calm', name: 'Calm', characteristics: 'Calm.' });
    await admin('POST /scenarios', makeScenario({ id: 'late', name: 'Late', persona: 'calm' }));
    const tabs: Page[] = [];
    for (const value of values) {
      const { page } = await openPage(t, service.url + path);
      if (summary !== undefined) await page.click(`summary:text-is("${summary}")`);
      await page.fill(`[name="${field}"]`, value);
      tabs.push(page);
    }
    const [first, second] = tabs as [Page, Page];
    t.notMatch(await clickButton(first, button), NOT_SAVED);
    const refused = await clickButton(second, button);
    t.match(refused, NOT_SAVED);
    const [saved] = values;
    const shown = /"name":"([^"]*)"/.exec(saved)?.[1] ?? saved;
    t.match(await second.innerText('[role=alert]'), shown, 'what is saved');
    t.equal(await second.inputValue(`[name="${field}"]`), values[1], 'what was entered');
    t.notMatch(await clickButton(second, button), NOT_SAVED, 'it has seen both');
    const { page: later } = await openPage(t, service.url + path);
    const stored = await later.inputValue(`[name="${field}"]`);
    const name = /"name":"([^"]*)"/.exec(values[1])?.[1] ?? values[1];
    t.ok(stored.includes(name), `${name} is saved now`);
  });
}
