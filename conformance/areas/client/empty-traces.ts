/** Why trace requests have no span of a conversation. */
import { formatValue, listAt, resolvePointer } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange, type Transcript, toPrintable } from '../../engine/transcript/reading.ts';
import { listSome } from './checks.ts';
import { isTraces, rawJsonOf, spansOf } from './sent-traces.ts';

/** Says why the service knows no conversation. */
export function explainNoSpans({ exchanges }: Transcript): string {
  const requests = exchanges.filter(isTraces);
  if (requests.length === 0) {
    return 'The client sent no span of a conversation. Flush the exporter before the end call.';
  }
  return requests.some((exchange) => spansOf(exchange).length > 0)
    ? 'The spans that the client sent have no gen_ai.operation.name, so the service ignores them. Set it to chat, execute_tool, or invoke_agent.'
    : 'The trace requests contain no spans. Flush the exporter before the end call.';
}

/** The lists of an OTLP/JSON request, from the outer one to the inner one. */
const lists = ['resourceSpans', 'scopeSpans', 'spans'] as const;

/** Names the keys that an OTLP/JSON request has where it should have a list that leads to its spans. */
export function findOtherKeys(exchange: Exchange): string | undefined {
  if (spansOf(exchange).length > 0) return undefined;
  const json = rawJsonOf(exchange);
  let pointer = '';
  for (const list of lists) {
    const parent = resolvePointer(json, pointer);
    if (!isObject(parent)) return undefined;
    if (!Array.isArray(parent[list])) {
      // Without another list, the request is only empty.
      if (!Object.values(parent).some(isNonEmptyList)) return undefined;
      const keys = Object.keys(parent).map((key) => formatValue(toPrintable(key, 40)));
      const where = pointer === '' ? 'the body' : pointer.slice(1).replaceAll('/', '.');
      return `${where} has ${listSome(keys)}, but no ${formatValue(list)}`;
    }
    if (listAt(json, `${pointer}/${list}`).length === 0) return undefined;
    pointer = `${pointer}/${list}/0`;
  }
  return undefined;
}

const isNonEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
