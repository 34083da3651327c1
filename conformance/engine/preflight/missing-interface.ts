import { isObject } from '../../../src/platform/json.ts';
import type { Suite } from '../area.ts';
import { isVoice } from '../transcript/call-messages.ts';
import { isNotFound, type Exchange } from '../transcript/reading.ts';
import type { BlockingCause, Preflight } from './blocking-cause.ts';

/** Every path is unknown. A missing `/health` or another single missing path is a finding. */
export function findMissingInterface(
  { run, exchanges: sent }: Preflight,
  { peer, cures }: Suite,
): BlockingCause | undefined {
  const exchanges = sent.filter(({ endpoint }) => endpoint !== 'elsewhere');
  const elsewhere = sent.find(({ endpoint }) => endpoint === 'elsewhere');
  const [first] = exchanges;
  const isMissing = (exchange: Exchange): boolean =>
    isNotFound(exchange) || (isVoice(exchange) && exchange.failure !== undefined);
  const isHealthOnly = exchanges.every(({ endpoint }) => endpoint === 'health');
  if (!first || isHealthOnly || !exchanges.every(isMissing) || !exchanges.some(isNotFound)) {
    return undefined;
  }
  if (peer === 'sandbox' && exchanges.some(isFromService)) {
    return {
      id: 'no_interface',
      message: `The server at ${run.target} is the evaluation service of sandbox-kit, not a sandbox.`,
      cure: 'Pass the URL of the sandbox. To check the service itself, use sandbox-kit check URL --area service.',
      evidence: first,
    };
  }
  return {
    id: 'no_interface',
    message: `No ${peer} found at ${run.target}: every endpoint is unknown there.`,
    cure: `${describePrefix(run.target, elsewhere)}${cures.noInterface}`,
    evidence: first,
  };
}

/** Whether the kit's own service rejected an unknown route: its errors have a `message` at the top. */
const isFromService = ({ json }: Exchange): boolean =>
  isObject(json) &&
  typeof json['message'] === 'string' &&
  /^Route [A-Z]+ \S+ does not exist\.$/.test(json['message']);

/** Explains a prefix that is missing or doubled: base URLs of OpenAI-compatible servers end in /v1. */
function describePrefix(target: string, elsewhere: Exchange | undefined): string {
  if (/\/v1\/*$/.test(target)) return 'Remove /v1 from the end of the URL. ';
  if (!elsewhere?.response || isNotFound(elsewhere)) return '';
  const { method, path } = elsewhere.request;
  return `${method} ${path} responds with ${elsewhere.response.status}: add the prefix /v1 to this route. `;
}
