import { formatList } from '../../../src/report-kit/format.ts';
import type { Finding } from '../../engine/checks/check.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';

/** Creates a finding about a request. Callers never pass a key or text of a conversation. */
export function requestFinding(
  { id }: Exchange,
  expected: string,
  received: string,
  hint?: string,
): Finding {
  return { exchange: id, pointer: '', expected, received, ...(hint !== undefined && { hint }) };
}

/** Lists the first three of many items. */
export const listSome = (items: readonly string[]): string => formatList(items, 3);
