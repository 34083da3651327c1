/** Generated requests: all are legal, a seed repeats them, and a refused one is made small. */
import t from 'tap';
import { CHAT_BODY_BYTES } from '../../../conformance/areas/chat/request-properties.ts';
import { generateChat, chatCombination } from '../../../conformance/areas/chat/sweep.ts';
import { generateUser, userCombination } from '../../../conformance/areas/users/sweep.ts';
import type { ChatDraft } from '../../../conformance/areas/chat/request-draft.ts';
import {
  combineProperties,
  createLookup,
  nameOf,
  type SizedProperty,
} from '../../../conformance/engine/sweep/property.ts';
import { SEARCH_REQUESTS_MAX, sweep } from '../../../conformance/engine/sweep/sweep.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import {
  findViolations,
  type ChatRequest,
  type UserCreateRequest,
} from '../../../src/contract/index.ts';
import { randomSeed, seededRandom } from '../../../src/platform/random.ts';
import { atNight } from '../../support/nightly.ts';

type SizedChat = SizedProperty<ChatDraft>;

const ROUNDS = atNight(200, 20);

const names = { userId: 'sim_user_1', sessionId: 'sk_abcdefABCDEF-Conformance-Check-Session' };

/** Returns the requests of a run and every request with one property. */
function generateChats(seed: string): ChatRequest[] {
  const random = seededRandom(seed);
  const combined = combineProperties(chatCombination);
  const single = combined.flat().map((one) => [one]);
  return [...combined, ...single, []].map((sized) =>
    generateChat(sized, random.fork('values'), names),
  );
}

void t.test('every generated chat request is valid, for any seed', (t) => {
  const first = randomSeed();
  t.comment(`seed ${first}`);
  for (let round = 0; round < ROUNDS; round++) {
    const chats = generateChats(`${first}/${round}`);
    const invalid = chats.filter((chat) => findViolations('ChatRequest', chat).length > 0);
    t.same(invalid, [], `${first}/${round}`);
    const sent = chats.map((chat) => JSON.stringify(chat));
    t.ok(
      chats.every(({ messages }) => messages.length > 0 && messages.length <= 130),
      'every history has messages, and a sane number of them',
    );
    t.ok(
      sent.every((text) => text.isWellFormed() && Buffer.byteLength(text) <= CHAT_BODY_BYTES),
      'every request is UTF-8 of a sane size',
    );
    t.notMatch(sent.join(''), /\\u0000|__proto__/);
  }
  t.end();
});

void t.test('every run sends every property, and the same seed the same requests', (t) => {
  const combined = combineProperties(chatCombination);
  t.equal(combined.length, chatCombination.requests);
  const sent = combined.flat().map(({ property }) => property.name);
  const all = chatCombination.properties.map(({ name }) => name);
  t.same([...new Set(sent)].toSorted(), all.toSorted(), 'each property is in some request');
  t.equal(new Set(all).size, all.length, 'names are unique');
  t.same(generateChats('a'), generateChats('a'));
  t.notSame(generateChats('a'), generateChats('b'));
  t.end();
});

for (const [name, combination] of Object.entries({
  chat: chatCombination,
  users: userCombination,
})) {
  void t.test(`some request has both properties of each pair: ${name}`, (t) => {
    const { isExclusive, arePaired, properties } = combination;
    const rows = combineProperties(combination as typeof chatCombination);
    for (const { place, name } of properties) {
      for (const other of properties) {
        if (!arePaired(place, other.place) || isExclusive(place, other.place)) continue;
        const isSent = rows.some((row) =>
          [name, other.name].every((one) => row.some(({ property }) => property.name === one)),
        );
        t.ok(isSent, `${name} and ${other.name}`);
      }
    }
    t.end();
  });
}

void t.test('no seed changes what the requests of a run combine', (t) => {
  const withoutIds = (chats: ChatRequest[]): unknown[] =>
    chats.map(({ messages, metadata }) => ({ messages, metadata }));
  t.same(withoutIds(generateChats('a')), withoutIds(generateChats('b')));
  t.end();
});

/** Returns the create requests of a run and every request with one property. */
function generateUsers(seed: string): UserCreateRequest[] {
  const random = seededRandom(seed);
  const combined = combineProperties(userCombination);
  const single = combined.flat().map((one) => [one]);
  return [...combined, ...single, []].map((sized, index) =>
    generateUser(sized, random.fork('values'), `sim_user_${random.fork(`${index}`).id(12)}`),
  );
}

void t.test('every generated create request is valid, with its own id, for any seed', (t) => {
  const first = randomSeed();
  t.comment(`seed ${first}`);
  for (let round = 0; round < ROUNDS; round++) {
    const requests = generateUsers(`${first}/${round}`);
    const invalid = requests.filter(
      (request) => findViolations('UserCreateRequest', request).length > 0,
    );
    t.same(invalid, [], `${first}/${round}`);
    const ids = requests.map(({ user_id: id }) => id).filter(({ length }) => length > 3);
    t.equal(new Set(ids).size, ids.length, 'ids differ');
  }
  const all = userCombination.properties.map(({ name }) => name);
  const combined = combineProperties(userCombination).flat();
  const sent = new Set(combined.map(({ property }) => property.name));
  t.same([...sent].toSorted(), all.toSorted());
  t.same(generateUsers('a'), generateUsers('a'), 'the same seed, the same requests');
  const lookup = createLookup(userCombination.properties);
  for (const { simpler = [] } of userCombination.properties) {
    for (const other of simpler) t.ok(lookup(other), `${other} exists`);
  }
  t.end();
});

void t.test('a property has the same values alone and together with others', (t) => {
  const random = seededRandom('a').fork('values');
  const metadataOf = (sized: readonly SizedChat[]): Record<string, unknown> =>
    generateChat(sized, random, names).metadata as Record<string, unknown>;
  for (const sized of combineProperties(chatCombination)) {
    for (const one of sized.filter(({ property }) => property.place.startsWith('metadata '))) {
      if (/^metadata (?:keys|body)$/.test(one.property.place)) continue;
      const [together, alone, plain] = [metadataOf(sized), metadataOf([one]), metadataOf([])];
      const [key = ''] = Object.keys(alone).filter((name) => alone[name] !== plain[name]);
      t.same(together[key], alone[key], nameOf(one));
    }
  }
  t.end();
});

void t.test('simpler properties exist, and none is simpler than itself', (t) => {
  const lookup = createLookup(chatCombination.properties);
  for (const { name, simpler = [] } of chatCombination.properties) {
    for (const other of simpler) t.ok(lookup(other), `${other} exists`);
    t.notOk(lookup(name)?.isSimpler(name), name);
  }
  t.end();
});

/** Sweeps a sandbox that refuses some requests. Returns the properties of all requests in order. */
async function sweepSandbox(
  refuses: (sized: readonly SizedChat[], count: number) => number | 'timeout' | undefined,
): Promise<{ sent: string[][]; refused: string[][] }> {
  const sent: string[][] = [];
  const refused: string[][] = [];
  await sweep({
    ...chatCombination,
    send(sized, properties) {
      sent.push(properties);
      const status = refuses(sized, sent.length) ?? 200;
      if (status !== 200) refused.push(properties);
      return Promise.resolve(createExchange(status, properties, sent.length));
    },
  });
  return { sent, refused };
}

function createExchange(status: number | 'timeout', properties: string[], id: number): Exchange {
  const outcome =
    status === 'timeout'
      ? { failure: { kind: 'timeout' as const, message: 'no response within 30000 ms' } }
      : { response: { status, headers: {}, body: '{}' } };
  const request = { method: 'POST', path: '/', headers: {} };
  const place = { probe: 'chat/generated', step: 'generated', endpoint: 'chat' } as const;
  return toExchange({
    ...{ record: 'exchange', id, intent: 'valid', properties, startedMs: 0, endedMs: 0 },
    ...{ ...place, request, ...outcome },
  });
}

const has = (name: string) => (sized: readonly SizedChat[]) =>
  sized.some(({ property }) => property.name === name);

void t.test('a sandbox that accepts everything gets no additional request', async (t) => {
  const { sent } = await sweepSandbox(() => undefined);
  t.equal(sent.length, chatCombination.requests);
});

void t.test('each single property is found alone, with few requests', async (t) => {
  const { properties: all } = chatCombination;
  const lookup = createLookup(all);
  const some = all.filter((_, index) => index % atNight(1, 4) === 0);
  for (const { name, sizes } of some) {
    const { sent, refused } = await sweepSandbox((sized) => (has(name)(sized) ? 400 : undefined));
    const smallest = refused.filter((properties) => properties.length === 1).at(-1) ?? [];
    t.equal(smallest.length, 1, name);
    t.match(smallest[0]?.replace(/\d+/, '#'), sizes ? name : smallest[0]);
    t.ok(smallest[0] === name || sizes, `${name}: found ${smallest.join()}`);
    t.ok(sent.length <= chatCombination.requests + 16, `${name}: ${sent.length} requests`);
    const accepted = sent.filter((properties) => !refused.includes(properties)).flat();
    const missing = all.filter(
      (other) =>
        other.name !== name &&
        !lookup(other.name)?.isSimpler(name) &&
        !accepted.some((one) => lookup(one)?.property === other),
    );
    t.same(
      missing.map((other) => other.name),
      [],
      'all other properties are accepted in some request',
    );
  }
});

void t.test('the smallest refused size is found', async (t) => {
  const isLong = (sized: readonly SizedChat[]): boolean =>
    sized.some(({ property, size }) => property.name === 'a history of # messages' && size > 20);
  const { refused, sent } = await sweepSandbox((sized) => (isLong(sized) ? 400 : undefined));
  t.same(refused.at(-1), ['a history of 21 messages']);
  t.ok(sent.some((properties) => properties.join() === 'a history of 19 messages'));
});

void t.test('the simplest form is found', async (t) => {
  const forms = createLookup(chatCombination.properties);
  const { refused } = await sweepSandbox((sized) =>
    sized.some(
      ({ property: { name } }) =>
        name === 'a system message' || forms(name)?.isSimpler('a system message'),
    )
      ? 400
      : undefined,
  );
  t.ok(refused.some((properties) => properties.join() === 'a system message'));
});

void t.test('properties that are refused only together are found together', async (t) => {
  const [pair = []] = combineProperties(chatCombination);
  const [first, , third] = pair.map(({ property }) => property.name);
  const { refused } = await sweepSandbox((sized) =>
    has(first ?? '')(sized) && has(third ?? '')(sized) ? 400 : undefined,
  );
  const smallest = refused.at(-1)?.map((name) => name.replace(/\d+/, '#'));
  t.same(smallest?.toSorted(), [first, third].toSorted());
});

void t.test('a request that is accepted when it is sent again has no cause', async (t) => {
  const { sent, refused } = await sweepSandbox((_sized, count) => (count === 2 ? 500 : undefined));
  t.equal(refused.length, 1);
  t.ok(sent.filter((properties) => properties.join() === refused[0]?.join()).length === 2);
});

void t.test('the search ends if the plain request is refused, too', async (t) => {
  const { sent } = await sweepSandbox(() => 400);
  t.equal(sent.length, 2);
  t.same(sent[1], [], 'the second request is the plain one');
});

void t.test('the number of requests is limited, and timeouts are few', async (t) => {
  const { sent } = await sweepSandbox((sized) => (sized.length > 0 ? 400 : undefined));
  t.ok(sent.length <= chatCombination.requests + SEARCH_REQUESTS_MAX, `${sent.length} requests`);
  const hanging = await sweepSandbox((sized) => (sized.length > 0 ? 'timeout' : undefined));
  t.ok(hanging.refused.length <= 6, `${hanging.refused.length} timeouts`);
  const once = await sweepSandbox((sized) =>
    has('a system message')(sized) ? 'timeout' : undefined,
  );
  const answered = once.sent.map((one) => !once.refused.includes(one));
  const inARow = answered
    .map(String)
    .join('')
    .split('true')
    .map((text) => text.length / 5);
  t.ok(Math.max(...inARow) <= 2, 'never three timeouts in a row');
});
