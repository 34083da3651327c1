import {
  sandboxErrors,
  valueAt,
  type Endpoint,
  type SandboxErrorCode,
} from '../../../src/contract/index.ts';
import { isoTime, type Clock } from '../../../src/platform/clock.ts';
import type { ProxyResponse, ProxyRequest, Transform, TransformFactory } from './mutant.ts';
import { isObject } from '../../../src/platform/json.ts';

/** Whether a distortion concerns a request. */
export type When = (asked: ProxyRequest) => boolean;

/** A change to the body of an answer, made in place. */
export type Edit = (body: Record<string, unknown>, asked: ProxyRequest) => void;

/** Always. */
export const always: When = () => true;

/** Puts a value, or what is made of the request, at a JSON pointer; parents come to be. */
export function set(pointer: string, value: unknown): Edit {
  return (body, asked) => {
    const keys = pointer.split('/').slice(1);
    const last = keys.pop() ?? '';
    let here: Record<string, unknown> = body;
    for (const [index, key] of keys.entries()) {
      const next = here[key];
      const fresh = /^\d+$/.test(keys[index + 1] ?? last) ? [] : {};
      here = here[key] = typeof next === 'object' && next ? next : fresh;
    }
    here[last] =
      typeof value === 'function' ? (value as (asked: ProxyRequest) => unknown)(asked) : value;
  };
}

/** Takes what is at a JSON pointer away. */
export function drop(pointer: string): Edit {
  return (body) => {
    const cut = pointer.lastIndexOf('/');
    const parent = valueAt(body, pointer.slice(0, cut));
    if (typeof parent === 'object' && parent) {
      Reflect.deleteProperty(parent, pointer.slice(cut + 1));
    }
  };
}

/** One edit after the other. */
export function combineEdits(...edits: Edit[]): Edit {
  return (body, asked) => {
    for (const edit of edits) edit(body, asked);
  };
}

/** Whether the sandbox took the request. */
export const isAccepted = ({ status }: ProxyResponse): boolean => status >= 200 && status < 300;

/** Whether it refused or failed. */
export const isError = ({ status }: ProxyResponse): boolean => status >= 400;

/** Changes what the sandbox answered, where the request and the answer are such. */
export function changeResponse(
  when: When,
  change: (answer: ProxyResponse, asked: ProxyRequest) => ProxyResponse,
): TransformFactory {
  return () => async (asked, forward) => {
    const answer = await forward(asked);
    return when(asked) ? change(answer, asked) : answer;
  };
}

/** The endpoint is this one, and the request such. */
export function to(endpoint: Endpoint, when: When = always): When {
  return (asked) => asked.endpoint === endpoint && when(asked);
}

/** An answer with its JSON body edited; one that has no object stays as it is. */
export function editBody(answer: ProxyResponse, asked: ProxyRequest, edit: Edit): ProxyResponse {
  const body = parseBody(answer);
  if (!isObject(body)) return answer;
  edit(body, asked);
  return { ...answer, body: JSON.stringify(body) };
}

/** The body of an answer as JSON; undefined where it is not. */
export function parseBody({ body }: ProxyResponse): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** Edits the bodies with which requests are accepted. */
export function editAccepted(endpoint: Endpoint, ...edits: Edit[]): TransformFactory {
  return changeResponse(to(endpoint), (answer, asked) =>
    isAccepted(answer) ? editBody(answer, asked, combineEdits(...edits)) : answer,
  );
}

/** Edits chat replies. */
export const editChat = (...edits: Edit[]): TransformFactory => editAccepted('chat', ...edits);

/** Edits health answers, whichever status they have. */
export const editHealth = (...edits: Edit[]): TransformFactory =>
  changeResponse(to('health'), (answer, asked) => editBody(answer, asked, combineEdits(...edits)));

/** Edits the bodies with which requests are refused. */
export function editErrors(when: When, ...edits: Edit[]): TransformFactory {
  return changeResponse(when, (answer, asked) =>
    isError(answer) ? editBody(answer, asked, combineEdits(...edits)) : answer,
  );
}

/** Puts other parts, such as the status, in the place of the answer's own. */
export function replaceParts(
  when: When,
  parts: Partial<ProxyResponse>,
  of: (answer: ProxyResponse) => boolean = () => true,
): TransformFactory {
  return changeResponse(when, (answer) => (of(answer) ? { ...answer, ...parts } : answer));
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** An answer with a JSON body. */
export function jsonResponse(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ProxyResponse {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
}

/** An answer in the sandbox's error shape (spec 7). */
export function errorResponse(
  status: number,
  code: SandboxErrorCode,
  message = 'No.',
): ProxyResponse {
  return jsonResponse(status, { error: { message, type: sandboxErrors[code].type, code } });
}

/** The least with which a request of an endpoint may be accepted (spec 2.8 to 2.10). */
export function createAcceptedResponse(
  { endpoint, json: sent, path }: ProxyRequest,
  clock: Clock,
): ProxyResponse {
  const now = isoTime(clock.nowMs());
  switch (endpoint) {
    case 'chat':
      return jsonResponse(200, {
        choices: [{ message: { role: 'assistant', content: 'All right.' } }],
      });
    case 'health':
      return jsonResponse(200, { status: 'healthy', timestamp: now });
    case 'create': {
      const id = valueAt(sent, '/user_id');
      const userId = typeof id === 'string' ? id : 'anybody';
      return jsonResponse(201, { user_id: userId, created_at: now, status: 'active' });
    }
    case 'delete':
    case undefined:
    case 'traces':
    case 'end':
    case 'simulations':
    case 'production':
    case 'voice':
    case 'admin': {
      const userId = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
      return jsonResponse(200, { user_id: userId, deleted_at: now, status: 'deleted' });
    }
  }
}

/** Answers some requests itself, and has the sandbox answer the rest. */
export function respondInstead(
  when: When,
  answer: (asked: ProxyRequest, clock: Clock) => ProxyResponse,
): TransformFactory {
  return () => async (asked, forward, clock) =>
    when(asked) ? answer(asked, clock) : forward(asked);
}

/** Accepts requests that must be refused, as if they were fine. */
export const acceptInstead = (when: When): TransformFactory =>
  respondInstead(when, createAcceptedResponse);

/** Refuses requests that must be accepted, in the right shape. */
export const refuseInstead = (
  when: When,
  status = 400,
  code: SandboxErrorCode = 'bad_request',
): TransformFactory => respondInstead(when, () => errorResponse(status, code));

/** Lets requests wait before the sandbox gets them. */
export function delay(when: When, ms: number): TransformFactory {
  return () => async (asked, forward, clock) => {
    if (when(asked)) await clock.sleep(ms);
    return forward(asked);
  };
}

/** A transform that is given whether the request concerns it for the first time. */
export function respondOnce(
  when: When,
  answer: (asked: ProxyRequest) => ProxyResponse,
): TransformFactory {
  return () => {
    let done = false;
    return async (asked, forward) => {
      if (done || !when(asked)) return forward(asked);
      done = true;
      return answer(asked);
    };
  };
}

/** One transform inside the other: the first is next to the judge. */
export function chain(...factories: TransformFactory[]): TransformFactory {
  return () =>
    factories
      .map((factory) => factory())
      .reduceRight<Transform>(
        (inner, outer) => (asked, forward, clock) =>
          outer(
            asked,
            async (again) => {
              const reply = await inner(again, forward, clock);
              if (reply === 'dropped') throw new Error('the connection was dropped');
              return reply;
            },
            clock,
          ),
        (asked, forward) => forward(asked),
      );
}
