import { serviceApiKeyHeader } from '../../../../src/contract/index.ts';
import {
  changes,
  instead,
  isAccepted,
  json,
  onAccepted,
  to,
} from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type ProxyRequest,
  type Mutant,
  type Transform,
} from '../../../engine/mutants/mutant.ts';
import { hasKey, hasWrongKey, idIn } from '../edits.ts';

const mutant = mutantsOf('service');
// The judge waits for what does not come.
const slow = { clockFactor: 20 };

/** Folds the ids of the kit that differ in case alone. */
const folded = (text: string): string =>
  text.replaceAll(/(sk-[a-z0-9]{8}-[a-z0-9]{8}-)ab/gi, (_all, own: string) => `${own}ab`);

/** Takes ids for the same that differ in case. */
const foldsIds = (): Transform => async (asked, forward) => {
  const { bytes, ...rest } = asked;
  const [path, body] = [folded(asked.path), folded(asked.body)];
  const isSame = path === asked.path && body === asked.body;
  return forward(isSame ? asked : { ...rest, path, body });
};

const isEncoded = ({ endpoint, path }: ProxyRequest): boolean =>
  endpoint === 'end' && path.includes('%');

/** Decodes the id of an end call, and then once more. */
const decodesTwice = (): Transform => async (asked, forward) => {
  const [, id] = /^\/v1\/sessions\/([^/]*)\/end$/.exec(asked.path) ?? [];
  if (id === undefined || !isEncoded(asked)) return forward(asked);
  const twice = encodeURIComponent(decodeURIComponent(decodeURIComponent(id)));
  return forward({ ...asked, path: `/v1/sessions/${twice}/end` });
};

/** Closes what another key has sent; by that key's right, or by saying so alone. */
const closesOfOthers = (isReal: boolean) => (): Transform => {
  const keys = new Map<string, string>();
  return async (asked, forward) => {
    const key = asked.headers[serviceApiKeyHeader] ?? '';
    const id = asked.endpoint === 'traces' ? idIn(asked.body) : idIn(asked.path);
    const isTaken = asked.endpoint === 'traces' && hasKey(asked) && !hasWrongKey(asked);
    if (isTaken && id !== undefined) keys.set(id, key);
    const answer = await forward(asked);
    const own = keys.get(id ?? '');
    if (asked.endpoint !== 'end' || answer.status !== 404 || own === undefined) return answer;
    if (isReal)
      return forward({ ...asked, headers: { ...asked.headers, [serviceApiKeyHeader]: own } });
    return json(200, {
      conversation_id: id,
      status: 'evaluating',
      run: 'Any',
      evaluations_queued: 0,
    });
  };
};

/** Mutants of the ids of conversations. */
export const serviceIdMutants: readonly Mutant[] = [
  mutant(
    'ids-folded',
    'Takes ids for the same that differ in case.',
    'SERVICE-065',
    foldsIds,
    slow,
  ),
  mutant(
    'ids-told-folded',
    'Tells ids in small letters.',
    'SERVICE-065',
    onAccepted('end', (body) => {
      body['conversation_id'] = folded(String(body['conversation_id']));
    }),
  ),
  mutant(
    'encoded-ids-unknown',
    'Does not decode the id of an end call.',
    'SERVICE-066',
    instead(isEncoded, () => json(404, { message: 'No.' })),
  ),
  mutant(
    'slash-unknown',
    'Takes an encoded slash for one of the path.',
    'SERVICE-066',
    instead(
      ({ path }) => path.includes('%2F'),
      () => json(404, { message: 'No.' }),
    ),
  ),
  mutant('ids-decoded-twice', 'Decodes ids twice.', 'SERVICE-066', decodesTwice),
  mutant(
    'ids-told-encoded',
    'Tells ids as they stand in the path.',
    'SERVICE-066',
    changes(isEncoded, (answer, asked) =>
      isAccepted(answer) ? { ...answer, body: toldEncoded(answer.body, asked.path) } : answer,
    ),
  ),
  mutant('closes-of-others', 'Closes for any key.', 'SERVICE-067', closesOfOthers(true)),
  mutant(
    'says-closed-to-others',
    'Says to any key that it closes.',
    'SERVICE-067',
    closesOfOthers(false),
  ),
  mutant(
    'charset-refused',
    'Refuses a content type that names a charset.',
    'SERVICE-012',
    instead(
      to('traces', ({ headers }) => (headers['content-type'] ?? '').includes('charset')),
      () => json(415, { message: 'No.' }),
    ),
  ),
];

function toldEncoded(body: string, path: string): string {
  const id = path.split('/')[3];
  return JSON.stringify({ ...(JSON.parse(body) as object), conversation_id: id });
}
