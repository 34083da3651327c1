/** The session of a request, and distortions that mix sessions up. */
import { listAt, resolvePointer } from '../../../src/contract/index.ts';
import {
  createOverlap,
  editBody,
  type Edit,
  isSuccess,
  set,
} from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, ProxyResponse, TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt } from '../../engine/mutants/requests.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import { CONTENT } from './replies.ts';

/** Returns the session id that an exchange sent. */
export const sentSessionId = ({ sent }: Exchange): unknown => resolvePointer(sent, '/session_id');

/** Returns the session id of a request. */
export const sessionOf = (request: ProxyRequest): string | undefined =>
  stringAt('session_id', request);

/** Returns the last message of a request. */
export function lastMessageOf({ json }: ProxyRequest): string {
  const content = resolvePointer(listAt(json, '/messages').at(-1), '/content');
  return typeof content === 'string' ? content : '';
}

/** Edits only replies to requests with a session id. */
export const inSession =
  (edit: Edit): Edit =>
  (body, request) => {
    if (sessionOf(request) !== undefined) edit(body, request);
  };

/** Changes accepted replies. `createChange` returns a change that starts without memory. */
export function changeReplies(
  createChange: () => (response: ProxyResponse, request: ProxyRequest) => ProxyResponse,
): TransformFactory {
  return () => {
    const change = createChange();
    return async (request, forward) => {
      const response = await forward(request);
      return request.endpoint === 'chat' && isSuccess(response)
        ? change(response, request)
        : response;
    };
  };
}

/** Repeats what requests with the same key said before; a request without a key is forgotten. */
export function rememberBy(keyOf: (request: ProxyRequest) => string | undefined): TransformFactory {
  return changeReplies(() => {
    const memory = new Map<string, string[]>();
    return (response, request) => {
      const key = keyOf(request);
      if (key === undefined) return response;
      const before = memory.get(key) ?? [];
      memory.set(key, [...before, `${lastMessageOf(request)} ${sessionOf(request) ?? ''}`]);
      return editBody(response, request, set(CONTENT, `You said: ${before.join(' ')}`));
    };
  });
}

/** The latest request and reply of concurrent ones. */
interface Latest {
  request: ProxyRequest | undefined;
  response: ProxyResponse | undefined;
}

/** Simulates a race: concurrent requests share the variables that keep their state. */
export function shareState(
  change: (response: ProxyResponse, request: ProxyRequest, latest: Latest) => ProxyResponse,
): TransformFactory {
  return () => {
    const latest: Latest = { request: undefined, response: undefined };
    const announce = createOverlap();
    return async (request, forward, clock) => {
      if (request.endpoint !== 'chat') return forward(request);
      latest.request = request;
      const response = await forward(request);
      if (!isSuccess(response)) return response;
      latest.response = editBody(
        response,
        request,
        set(CONTENT, `You said: ${lastMessageOf(request)}`),
      );
      await announce(clock)();
      return change(response, request, latest);
    };
  };
}
