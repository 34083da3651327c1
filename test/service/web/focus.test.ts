/** The keyboard focus after a form was sent: the notice or the first problem, even without scripts. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { atNight } from '../../support/nightly.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage, withContext } from '../../support/pages/browser.ts';
import { attachReport, clickButton, pressEnter } from '../../support/pages/service-page.ts';
import { makeContainsEval, withService } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

/** Asserts that the focus is on the only element that the selector matches. */
async function assertFocus(t: Test, page: Page, selector: string): Promise<void> {
  await page.locator(`${selector}:focus`).waitFor();
  t.equal(await page.locator(':focus').count(), 1, selector);
}

for (const javaScriptEnabled of atNight([true, false], [true])) {
  void t.test(
    `the focus is on the notice or on the first problem, JavaScript: ${javaScriptEnabled}`,
    async (t) => {
      const { service, admin } = await withService(t);
      await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' });
      for (const nth of [1, 2, 3, 4, 5, 6]) {
        await admin('POST /evals', makeContainsEval(`e-${nth}`, 'x'));
      }
      const page = await (await withContext(t, { javaScriptEnabled })).newPage();
      const open = (path: string) => page.goto(service.url + path);

      await open('/settings');
      await clickButton(page, 'Save');
      await assertFocus(t, page, '.notice');
      for (const box of await page.locator('[name=evals]').all()) await box.check();
      await page.fill('[name=run_name]', '   ');
      await clickButton(page, 'Save');
      await assertFocus(t, page, 'fieldset [role=alert]');

      await open('/agents/shop');
      await attachReport(page);
      await assertFocus(t, page, '[name=report]');
      await page.click('summary:text("Settings")');
      await page.fill('[name=url]', 'nowhere');
      await clickButton(page, 'Save');
      await assertFocus(t, page, '[name=url]');
      await page.fill('[name=url]', 'http://127.0.0.1:8');
      await clickButton(page, 'Save');
      await assertFocus(t, page, '.notice');

      await open('/transcripts');
      await clickButton(page, 'Upload');
      await assertFocus(t, page, '[name=file]');
      await page.fill('[name=text]', '[{"session_id":"a"}]');
      await clickButton(page, 'Upload');
      await assertFocus(t, page, '.remark[role=alert]');
      const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
      await page.fill('[name=text]', JSON.stringify([{ session_id: 'a', turns }]));
      await clickButton(page, 'Upload');
      await assertFocus(t, page, '.notice');

      await open('/keys');
      await clickButton(page, 'Generate a key');
      await assertFocus(t, page, '.notice');

      await open('/evals/edit?id=e-1');
      await page.fill('[name=other]', 'unknown');
      await clickButton(page, 'Score this conversation');
      await assertFocus(t, page, '[name=other]');
      await page.fill('[name=other]', '');
      await clickButton(page, 'Score this conversation');
      await assertFocus(t, page, '#dry-run');
    },
  );
}

void t.test('after a wrong key, the focus is on the key, with the problem', async (t) => {
  const service = await withStartedService(t, {
    host: '0.0.0.0',
    keys: [{ key: 'the-first-key' }],
  });
  const { page } = await openPage(t, service.url);
  await assertFocus(t, page, '[name=key]');
  t.equal(await page.locator('[aria-invalid]').count(), 0);
  await page.keyboard.type('not-a-known-key');
  await pressEnter(page);
  await assertFocus(t, page, '[name=key][aria-invalid=true]');
  await assertAccessibleAtNight(t, page);
});
