import { isObject } from '../../../../src/platform/json.ts';
import { isAccepted, toPrintable, type Transcript } from '../../../engine/transcript/reading.ts';
import { diagnoseBodies, type Diagnosis } from '../../diagnoses/seen.ts';
import { isResultsEndpoint } from '../results-api.ts';

/** Recognizes pages whose only list has a name other than `items`. */
export function findRenamedItems({ exchanges }: Transcript): Diagnosis[] {
  return diagnoseBodies(exchanges, (exchange) => {
    const { endpoint, json } = exchange;
    const isRead = isResultsEndpoint(endpoint) && isAccepted(exchange);
    if (!isRead || !isObject(json) || Object.hasOwn(json, 'items')) return undefined;
    const [list, ...others] = Object.entries(json).filter(([, value]) => Array.isArray(value));
    if (!list || others.length > 0) return undefined;
    const [name, items] = list;
    return {
      kind: name,
      fault: `found \`${toPrintable(name, 40)}\`, the name is \`items\``,
      cure: 'Send the names as the specification writes them',
      repair: ({ response }) => ({
        status: 200,
        headers: {},
        ...response,
        body: JSON.stringify({ ...json, items }),
      }),
    };
  });
}
