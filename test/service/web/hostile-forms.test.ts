/** Forms with millions of fields, and wrong keys without end. */
import t from 'tap';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { START_MS, withService } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

void t.test('a form with too many fields is refused before it is parsed', async (t) => {
  const { service, send } = await withService(t);
  const headers = { ...FORM, origin: service.url };
  const many = '&a'.repeat(8_000_000);
  const refused = await send('POST /settings', { raw: many, headers, key: null });
  t.equal(refused.status, 400);
  t.match(refused.text, /more than 10000 fields/);
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';
  const multipart = await send('POST /settings', {
    raw: `${part.repeat(10_001)}--b--\r\n`,
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=b' },
    key: null,
  });
  t.match(multipart.text, /more than 10000 fields/);
});

void t.test('after ten wrong keys, an address has to wait', async (t) => {
  const clock = manualClock(START_MS);
  const keys = [{ key: 'the-key-of-this-service' }];
  const service = await withStartedService(t, { clock, host: '0.0.0.0', keys });
  const signIn = (key: string): Promise<Response> =>
    fetch(`${service.url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: service.url },
      body: new URLSearchParams({ key, next: '/' }),
    });
  for (let nth = 0; nth < 10; nth += 1) t.equal((await signIn(`wrong-${nth}`)).status, 401);
  const refused = await signIn('wrong-10');
  t.equal(refused.status, 429);
  t.equal(refused.headers.get('retry-after'), '60');
  t.match(await refused.text(), /Too many wrong keys\. Try again in 60 seconds\./);
  t.equal((await signIn('the-key-of-this-service')).status, 429, 'even with the right key');
  clock.advance(60_000);
  t.equal((await signIn('the-key-of-this-service')).status, 303);
  t.equal((await signIn('wrong-11')).status, 401);
});
