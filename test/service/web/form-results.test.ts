/** The pages that forms lead to are requested by GET: going back or reloading sends nothing again. */
import t from 'tap';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow } from '../../support/pages/service-page.ts';
import { withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

void t.test('a reload of the chat sends no message, and going back shows the page', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const double = await withSandboxDouble(t);
  await admin('POST /agents', { id: 'a', name: 'A', url: double.url });
  const { page } = await openPage(t, `${service.url}/agents/a/chat`);
  const countMessages = (): number =>
    double.requests.filter(({ route }) => route === 'chat').length;
  for (const line of ['First', 'Second']) {
    await page.fill('[name=line]', line);
    t.match(await clickButton(page, 'Send'), new RegExp(`User\\s+${line}`));
  }
  await page.reload();
  t.match(await page.innerText('main'), /First.*Second/s, 'the conversation is still shown');
  await page.goBack();
  t.match(await page.innerText('main'), 'First');
  t.notMatch(await page.innerText('main'), 'Second');
  await page.goForward();
  t.match(await page.innerText('main'), 'Second');
  t.equal(countMessages(), 2, 'no message was sent again');
});

void t.test('a mistake in a form keeps what was typed, also after a reload', async (t) => {
  const { service } = await withEmptyService(t);
  const { page } = await openPage(t, `${service.url}/agents`);
  await page.fill('[name=name]', 'Shop');
  await page.fill('[name=url]', 'shop.example');
  await clickButton(page, 'Add the agent');
  for (const when of ['after the form', 'after a reload']) {
    t.equal(await page.inputValue('[name=name]'), 'Shop', when);
    t.equal(await page.inputValue('[name=url]'), 'shop.example', when);
    t.match(await page.innerText('main'), 'The URL', when);
    await page.reload();
  }
  await follow(page, 'nav >> text=Evals');
  await page.goBack();
  t.equal(await page.inputValue('[name=name]'), 'Shop', 'after another page');
});

void t.test('every form redirects, and only its sender sees what it led to', async (t) => {
  const keys = [{ key: 'the-key-of-this-service' }];
  const service = await withStartedService(t, { host: '0.0.0.0', keys });
  const signIn = async (): Promise<Record<string, string>> => {
    const response = await fetch(`${service.url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: service.url, 'x-forwarded-for': '203.0.113.7' },
      body: new URLSearchParams({ key: 'the-key-of-this-service', next: '/' }),
    });
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    return { cookie, accept: 'text/html', 'x-forwarded-for': '203.0.113.7' };
  };
  const [sender, other] = [await signIn(), await signIn()];
  const read = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(service.url + path, { headers, redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  };
  const [, token = ''] =
    /name="_token" value="(\w+)"/.exec((await read('/keys', sender)).text) ?? [];
  const post = async (path: string, fields: Record<string, string>): Promise<string> => {
    const response = await fetch(service.url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...sender, origin: service.url },
      body: new URLSearchParams({ _token: token, ...fields }),
    });
    t.equal(response.status, 303, path);
    return response.headers.get('location') ?? '';
  };
  const generated = await post('/keys/generate', { label: 'CI' });
  t.match((await read(generated, sender)).text, 'sk_', 'the new key is shown');
  t.notMatch((await read(generated, other)).text, 'sk_', 'another session does not see it');
  t.notMatch(
    (await read(generated, { accept: 'text/html' })).text,
    'sk_',
    'nor does an unauthorized caller',
  );
  const wrong = await post('/agents', { name: 'Shop', url: 'shop.example' });
  t.match(await read(wrong, sender), { status: 400, text: 'shop.example' });
  t.match(await read(wrong.replace(/shown=.*/, 'shown=unknown'), sender), { status: 200 });
  const missing = await post('/agents/nothing/delete', {});
  t.match(await read(missing, sender), { status: 404, text: 'There is no agent' });
});
