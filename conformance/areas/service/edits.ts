import { serviceApiKeyHeader } from '../../../src/contract/index.ts';
import {
  always,
  changes,
  edited,
  isAccepted,
  type When,
} from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, Transform, TransformFactory } from '../../engine/mutants/mutant.ts';
import { isObject } from '../../../src/platform/json.ts';

/** The request brings a key. */
export const hasKey: When = ({ headers }) => headers[serviceApiKeyHeader] !== undefined;

/** The request brings the key that nobody has. */
export const hasWrongKey: When = ({ headers }) =>
  headers[serviceApiKeyHeader] === 'sandbox-kit-wrong-key';

/** The two endpoints of results. */
export type Results = 'production' | 'simulations';

/** A session of a page, to be changed in place. */
export type Item = Record<string, unknown>;

/** The value of a parameter of the query. */
export function param({ path }: ProxyRequest, name: string): string | null {
  return new URLSearchParams(path.split('?')[1] ?? '').get(name);
}

/** The query has this parameter, with this value where one is given. */
export const asks =
  (name: string, value?: string): When =>
  (asked) => {
    const found = param(asked, name);
    return value === undefined ? found !== null : found === value;
  };

/** The contrary. */
export const not =
  (when: When): When =>
  (asked) =>
    !when(asked);

/** Edits the pages of an endpoint. */
export function onPages(
  endpoint: Results,
  edit: (page: Item, asked: ProxyRequest) => void,
  when: When = always,
): TransformFactory {
  return changes(
    (asked) => asked.endpoint === endpoint && when(asked),
    (answer, asked) => (isAccepted(answer) ? edited(answer, asked, edit) : answer),
  );
}

/** Edits each session of the pages of an endpoint. */
export function onItems(
  endpoint: Results,
  edit: (item: Item, asked: ProxyRequest) => void,
  when: When = always,
): TransformFactory {
  return onPages(
    endpoint,
    (page, asked) => {
      for (const item of itemsIn(page)) edit(item, asked);
    },
    when,
  );
}

/** The sessions of a page. */
export function itemsIn({ items }: Item): Item[] {
  return Array.isArray(items) ? items.filter(isObject) : [];
}

/** A part of a session that is an object; an empty one where it is none. */
export function partOf(item: Item, key: string): Item {
  const part = item[key];
  return isObject(part) ? part : {};
}

/** Objects in a list of a session. */
export function listOf(item: Item, key: string): Item[] {
  const list = item[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Has the service answer another query than the one that was sent. */
export function requeried(
  endpoint: Results,
  change: (query: URLSearchParams) => void,
  when: When = always,
): TransformFactory {
  return (): Transform => async (asked, forward) => {
    if (asked.endpoint !== endpoint || !when(asked)) return forward(asked);
    const [route = '', text = ''] = asked.path.split('?');
    const query = new URLSearchParams(text);
    change(query);
    return forward({ ...asked, path: `${route}?${query.toString()}` });
  };
}

/** The conversation that a text names first. */
export function idIn(text: string): string | undefined {
  return /sk-[a-z0-9]{8}-[a-z0-9]{8}/.exec(text)?.[0];
}

/** By how many milliseconds a request moves the clock of the service on. */
export const advanceOf = ({ endpoint, json: sent }: ProxyRequest): number =>
  endpoint === 'admin' && isObject(sent) ? Number(sent['advance_ms'] ?? 0) : 0;
