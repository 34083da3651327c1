import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import {
  changeResponse,
  respondInstead,
  isAccepted,
  jsonResponse,
  editAccepted,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type { Mutant, Transform } from '../../../engine/mutants/mutant.ts';
import { conversationIdIn, errorResponse, fastClock, hasValidKey, mutant } from '../transforms.ts';
import { withBody } from '../transforms.ts';

/** Makes ids of the run equal that differ only in the case of their suffix. */
const foldIds = (text: string): string =>
  text.replaceAll(/(sk-[a-z0-9]{8}-[a-z0-9]{8}-)ab/gi, (_all, prefix: string) => `${prefix}ab`);

const foldRequestIds = (): Transform => async (request, forward) => {
  const path = foldIds(request.path);
  const body = foldIds(request.body);
  const isSame = path === request.path && body === request.body;
  return forward(isSame ? request : { ...withBody(request, body), path });
};

const hasEncodedId: When = ({ endpoint, path }) => endpoint === 'end' && path.includes('%');

const decodeTwice = (): Transform => async (request, forward) => {
  const [, id] = /^\/v1\/sessions\/([^/]*)\/end$/.exec(request.path) ?? [];
  if (id === undefined || !hasEncodedId(request)) return forward(request);
  const decoded = encodeURIComponent(decodeURIComponent(decodeURIComponent(id)));
  return forward({ ...request, path: `/v1/sessions/${decoded}/end` });
};

/** Accepts end calls for conversations of other owners; really closes them or only says so. */
const closeForOthers = (isReallyClosed: boolean) => (): Transform => {
  const keyById = new Map<string, string>();
  return async (request, forward) => {
    const { endpoint, headers, body, path } = request;
    const id = conversationIdIn(endpoint === 'traces' ? body : path);
    if (endpoint === 'traces' && hasValidKey(request) && id !== undefined) {
      keyById.set(id, headers[SERVICE_API_KEY_HEADER] ?? '');
    }
    const response = await forward(request);
    const ownKey = keyById.get(id ?? '');
    if (endpoint !== 'end' || response.status !== 404 || ownKey === undefined) return response;
    if (isReallyClosed) {
      return forward({ ...request, headers: { ...headers, [SERVICE_API_KEY_HEADER]: ownKey } });
    }
    return jsonResponse(200, {
      conversation_id: id,
      status: 'evaluating',
      run: 'Any',
      evaluations_queued: 0,
    });
  };
};

/** Mutants of conversation ids and their owners. */
export const idMutants: readonly Mutant[] = [
  mutant('ids-folded', 'Ignores the case of ids.', 'SERVICE-065', foldRequestIds, fastClock),
  mutant(
    'ids-told-folded',
    'Returns ids in lower case.',
    'SERVICE-065',
    editAccepted('end', (body) => {
      body['conversation_id'] = foldIds(String(body['conversation_id']));
    }),
  ),
  mutant(
    'encoded-ids-unknown',
    'Does not decode the id in the path.',
    'SERVICE-066',
    respondInstead(hasEncodedId, () => errorResponse(404)),
  ),
  mutant(
    'slash-unknown',
    'Treats an encoded slash as a path separator.',
    'SERVICE-066',
    respondInstead(
      ({ path }) => path.includes('%2F'),
      () => errorResponse(404),
    ),
  ),
  mutant('ids-decoded-twice', 'Decodes ids twice.', 'SERVICE-066', decodeTwice),
  mutant(
    'ids-told-encoded',
    'Returns ids in their encoded form.',
    'SERVICE-066',
    changeResponse(hasEncodedId, (response, request) => {
      if (!isAccepted(response)) return response;
      const body = JSON.parse(response.body) as object;
      const encodedId = request.path.split('/')[3];
      return { ...response, body: JSON.stringify({ ...body, conversation_id: encodedId }) };
    }),
  ),
  mutant(
    'closes-of-others',
    'Closes conversations of other owners.',
    'SERVICE-067',
    closeForOthers(true),
  ),
  mutant(
    'says-closed-to-others',
    'Pretends to close conversations of other owners.',
    'SERVICE-067',
    closeForOthers(false),
  ),
];
