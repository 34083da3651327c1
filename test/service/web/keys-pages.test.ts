/** The page of API keys in a real browser: a key is shown once, and can be revoked. */
import t, { type Test } from 'tap';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow } from '../../support/pages/service-page.ts';
import { withService, type ServiceUnderTest } from '../../support/services/service.ts';

const open = async (t: Test, { service }: ServiceUnderTest, path = '/keys') =>
  openPage(t, service.url + path);

/** Returns the status of a request with a key. */
const statusOf = async ({ send }: ServiceUnderTest, key: string): Promise<number> =>
  (await send('GET /api/simulations/sessions/', { key })).status;

void t.test('a generated key is shown once, works, and can be revoked from the list', async (t) => {
  const tested = await withService(t, { apiKeyHeader: 'x-shop-key' });
  const { service } = tested;
  const { page, errors } = await open(t, tested, '/settings');
  t.match(await page.innerText('main'), '1 key is valid for this owner.');
  await follow(page, 'text=Generate or revoke API keys');
  t.match(await page.innerText('tbody'), /configuration\s+Remove it from/);
  await page.fill('[name=label]', 'staging exporter');
  const created = await clickButton(page, 'Generate a key');
  const [key = ''] = /sk_[0-9a-f]{30}/.exec(created) ?? [];
  t.match(created, 'Copy the key now: only this page shows it, for half an hour.');
  t.match(created, `OTEL_EXPORTER_OTLP_ENDPOINT=${service.url}`);
  t.match(created, `OTEL_EXPORTER_OTLP_HEADERS=x-shop-key=${key}`);
  t.notMatch(page.url(), key);
  const response = await fetch(`${service.url}/api/simulations/sessions/`, {
    headers: { 'x-shop-key': key },
  });
  t.equal(response.status, 200, 'the key works');

  await follow(page, 'text=All keys');
  t.notMatch(await page.content(), key);
  const row = page.locator('tr', { hasText: 'staging exporter' });
  t.match(await row.innerText(), '2026-11-20 10:00');
  await row.locator('summary').click();
  t.match(await clickButton(page, 'Revoke'), 'The key was revoked.');
  t.equal(await row.count(), 0);
  const refused = await fetch(`${service.url}/api/simulations/sessions/`, {
    headers: { 'x-shop-key': key },
  });
  t.equal(refused.status, 401);
  t.same(errors, []);
});

void t.test('a key can be revoked by pasting it, and no page repeats it', async (t) => {
  const tested = await withService(t);
  const { service, admin } = tested;
  await admin('POST /keys', { key: 'a-pasted-key', label: 'staging exporter' });
  await admin('POST /keys', { key: 'the-key-of-team-b', owner: 'team b' });
  const { page } = await open(t, tested);
  const revoke = async (key: string): Promise<string> => {
    await page.fill('[name=key]', key);
    const text = await clickButton(page, 'Revoke this key …');
    t.notOk((await page.content()).includes(key), 'the page does not repeat the key');
    t.notOk(page.url().includes(key), 'the URL does not contain the key');
    return text;
  };
  t.match(await revoke('no-such-key'), 'The owner has no such key.');
  t.equal(await page.getAttribute('[name=key]', 'aria-invalid'), 'true');
  t.match(await revoke('the-key-of-team-b'), 'The owner has no such key.');
  t.match(await revoke(service.apiKey), 'The key is from the configuration of the service.');
  t.equal(await statusOf(tested, 'a-pasted-key'), 200);
  t.match(
    await revoke('a-pasted-key'),
    /Revoke the key “staging exporter”\?.*added at 2026-11-20 10:00.*get a 401 from then on/s,
  );
  t.equal(await statusOf(tested, 'a-pasted-key'), 200, 'nothing is revoked before it is confirmed');
  await follow(page, 'main >> text=Cancel');
  t.equal(new URL(page.url()).pathname, '/keys');
  await revoke('a-pasted-key');
  t.match(await clickButton(page, 'Revoke'), 'The key was revoked.');
  t.equal(await statusOf(tested, 'a-pasted-key'), 401);
  t.equal(await statusOf(tested, service.apiKey), 200);
  t.equal(await statusOf(tested, 'the-key-of-team-b'), 200);

  await page.goto(`${service.url}/keys?owner=team%20b`);
  t.equal(await page.locator('tbody tr').count(), 1);
  await page.fill('[name=key]', 'the-key-of-team-b');
  t.match(await clickButton(page, 'Revoke this key …'), 'Revoke the key without a label?');
  t.match(await clickButton(page, 'Revoke'), 'This owner has no keys.');
  t.match(page.url(), 'owner=team+b', 'links keep the owner');
});

void t.test('a long list of keys has pages', async (t) => {
  const tested = await withService(t);
  const keys = Array.from({ length: 80 }, (_, nth) => ({
    key: `seeded-key-${nth}`,
    label: `Key ${nth}`,
  }));
  await tested.admin('POST /seed', { keys });
  const { page } = await open(t, tested);
  t.equal(await page.locator('tbody tr').count(), 50);
  await follow(page, 'text=Older');
  t.equal(await page.locator('tbody tr').count(), 31);
});
