/** Distortions of sandboxes: the proxy that applies them, and those that several tests use. */
import type { Test } from 'tap';
import {
  always,
  changeResponse,
  isSuccess,
  jsonResponse,
  to,
  type When,
} from '../../../conformance/engine/mutants/combinators.ts';
import type {
  ProxyResponse,
  TransformFactory,
  VoiceTransform,
} from '../../../conformance/engine/mutants/mutant.ts';
import { startProxy } from '../../../conformance/proof/proxy.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { isObject } from '../../../src/platform/json.ts';

/** Starts a proxy that distorts a peer, and stops it after the test. Returns its URL. */
export async function withDistortion(
  t: Test,
  upstream: string,
  transform: TransformFactory,
  { voice, clock = systemClock }: { voice?: VoiceTransform; clock?: Clock } = {},
): Promise<string> {
  const proxy = await startProxy({ upstream, transform: transform(), voice, clock });
  t.teardown(() => proxy.stop());
  return proxy.url;
}

export const CHAT = '/v1/chat/completions';
export const isChat: When = to('chat');
export const isUsers: When = ({ path }) => path.startsWith('/users');
export const isBadRequest = ({ status }: ProxyResponse): boolean => status === 400;

/** Creates an error response in the shape of the interface, with any type and code. */
export const createErrorResponse = (
  status: number,
  message: string,
  type: string,
  code: string | null,
): ProxyResponse => jsonResponse(status, { error: { message, type, code } });

/** Edits the text of responses (default: of all 2xx responses). */
export const changeText = (
  edit: (body: string) => string,
  when: When = always,
  of: (response: ProxyResponse) => boolean = isSuccess,
): TransformFactory =>
  changeResponse(when, (response) =>
    of(response) ? { ...response, body: edit(response.body) } : response,
  );

/** Edits the JSON body of responses (default: of all 2xx responses). */
export const changeBody = (
  edit: (body: unknown) => unknown,
  when?: When,
  of?: (response: ProxyResponse) => boolean,
): TransformFactory => changeText((body) => JSON.stringify(edit(JSON.parse(body))), when, of);

/** Renames the keys of a JSON value at every level. */
export function renameKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => renameKeys(item, rename));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [rename(key), renameKeys(item, rename)]),
  );
}

/** Returns a name in camel case. */
export const toCamel = (key: string): string =>
  key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
