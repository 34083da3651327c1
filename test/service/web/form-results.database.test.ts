/** The pages that forms lead to are in the store, so that every replica shows them, and for minutes only. */
import t from 'tap';
import { testStore, withStore } from '../../support/database/store.ts';
import { newFormResult, NOON_MS } from '../../support/database/rows.ts';
import { sendForm } from '../../support/pages/send-form.ts';
import { START_MS, withService, type ServiceUnderTest } from '../../support/services/service.ts';
import { withReplicas } from '../../support/services/replicas.ts';
import type { Store, StoredFormResult } from '../../../src/service/store/store.ts';
import { createFormResults } from '../../../src/service/web/frame/form-results.ts';
import { MINUTE_MS } from '../../../src/platform/clock.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { UNKNOWN_READER } from '../../../src/service/web/frame/page-frame.ts';

const HALF_HOUR_MS = 30 * MINUTE_MS;

/** Sends a form, and returns where it leads. */
async function submit(
  tested: ServiceUnderTest,
  path: string,
  fields: Record<string, string>,
): Promise<{ status: number; location: string }> {
  const response = await sendForm(tested, { page: '/keys', path }, fields);
  return { status: response.status, location: response.headers.get('location') ?? '' };
}

const read = ({ send }: ServiceUnderTest, location: string) =>
  send(`GET ${location}`, { headers: { accept: 'text/html' }, key: null });

void t.test('a form redirects to its result, which is shown for half an hour', async (t) => {
  const tested = await withService(t);
  const sent = await submit(tested, '/agents', { name: 'Shop', url: 'shop.example' });
  t.equal(sent.status, 303);
  for (const when of ['at first', 'after a reload', 'on each replica']) {
    const shown = await read(tested, sent.location);
    t.equal(shown.status, 400, when);
    t.match(shown.text, 'value="shop.example"', when);
  }
  await tested.admin('POST /clock', { advance_ms: HALF_HOUR_MS });
  const later = await read(tested, sent.location);
  t.equal(later.status, 200);
  t.notMatch(later.text, 'value="shop.example"', 'the form is empty again');
});

void t.test('a replica shows the result of a form that another one received', async (t) => {
  const { replicas } = await withReplicas(t, 2);
  const [first, second] = replicas as [ServiceUnderTest, ServiceUnderTest];
  const sent = await submit(first, '/keys/generate', { label: 'CI' });
  t.equal(sent.status, 303);
  t.match((await read(second, sent.location)).text, 'sk_', 'the new key');
});

testStore(
  'what is stored can be read only with the address of the page and the session of its reader',
  async (t) => {
    const { store, ownerId } = await withStore(t);
    const clock = manualClock(START_MS);
    const results = createFormResults({ store, clock });
    const viewer = (token: string) => ({
      context: { ...UNKNOWN_READER, token },
      ownerId,
      findOwner: () => Promise.resolve(ownerId),
      listOwners: () => Promise.resolve([ownerId]),
    });
    const [sender, other] = [viewer('token-of-the-sender'), viewer('token-of-another')];
    const page = `<p>The key is sk_secret.</p>${'<p>Again</p>'.repeat(1_000)}`;
    const id = await results.keep(sender, { status: 400, page });
    t.same(await results.find(sender, id), { status: 400, page });
    t.equal(await results.find(other, id), undefined, 'only its sender can read it');
    const stored: StoredFormResult[] = [];
    const add: Store['formResults']['add'] = (_ownerId, result) =>
      Promise.resolve(void stored.push(result));
    const watched = createFormResults({
      store: { formResults: { ...store.formResults, add } },
      clock,
    });
    const shown = await watched.keep(sender, { status: 200, page });
    const [{ id: storedId, content } = newFormResult()] = stored;
    t.equal(stored.length, 1);
    t.notMatch(content.toString('latin1'), /secret|token-of/);
    t.notMatch(storedId, shown, 'the id in the address opens it, so it is not stored either');
    t.ok(content.length < page.length / 10, 'it is compressed');
  },
);

testStore('the oldest results make way for new ones', async (t) => {
  const { store, ownerId } = await withStore(t);
  const limits = { countMax: 3, bytesMax: 100 };
  const add = (id: string, bytes: number) =>
    store.formResults.add(ownerId, newFormResult({ id, content: Buffer.alloc(bytes) }), limits);
  const list = async (): Promise<string[]> => {
    const ids = ['a', 'b', 'c', 'd', 'large', 'e'];
    const found = await Promise.all(
      ids.map((id) => store.formResults.find(ownerId, id, NOON_MS - 1)),
    );
    return ids.filter((_id, nth) => found[nth] !== undefined);
  };
  for (const id of ['a', 'b', 'c', 'd']) await add(id, 10);
  t.same(await list(), ['b', 'c', 'd'], 'by their number');
  await add('large', 200);
  t.same(await list(), ['large'], 'by their size; the newest is always kept');
  await add('e', 10);
  t.same(await list(), ['e']);
  await store.formResults.removeExpired(ownerId, NOON_MS - 1);
  t.same(await list(), ['e']);
  await store.formResults.removeExpired(ownerId, NOON_MS);
  t.same(await list(), []);
});
