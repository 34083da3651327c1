import { valueAt } from '../../src/contract/index.ts';
import { sessionOf, turnsOf } from '../checks/index.ts';
import {
  type Exchange,
  type Transcript,
  accepted,
  outcome,
  putOff,
} from '../transcript/reading.ts';

type Endpoint = Exchange['endpoint'];

/** The silences of area A: what each is called, and by which steps it shows. */
const silences: readonly (readonly [name: string, endpoint: Endpoint, ...steps: string[]])[] = [
  ['POST /v1/traces with no spans', 'traces', 'no spans'],
  ['a trace request without a key', 'traces', 'none key'],
  ['a read without a key', 'production', 'none key'],
  ['a wrong key', 'traces', 'wrong key'],
  ['messages that are not JSON', 'traces', 'messages not JSON'],
  ['messages as structured values', 'traces', 'messages as values'],
  ['span ids in base64', 'traces', 'ids in base64'],
  ['a trace body that is not JSON', 'traces', 'body not JSON'],
  ['an empty trace body', 'traces', 'body empty'],
  ['a trace body that is not protobuf', 'traces', 'body not protobuf'],
  ['a trace body that is not gzip', 'traces', 'body not gzip'],
  ['an unknown content encoding', 'traces', 'encoding unknown'],
  ['a body that inflates to over 10 MB', 'traces', 'inflates to over 10 MB'],
  ['an end call with a content type alone', 'end', 'content type alone'],
  ['an end call with a body', 'end', 'a body', 'a body that is not JSON'],
  ['an id with reserved letters', 'end', 'reserved letters in the id'],
  ['limit=0', 'production', 'limit 0'],
  ['limit=many', 'production', 'limit not a number'],
  ['skip=-1', 'production', 'skip negative'],
  ['failed_only=perhaps', 'production', 'boolean unreadable'],
  ['started_after=yesterday', 'production', 'time unreadable'],
  ['an unknown parameter', 'production', 'parameter unknown'],
  ['results without the slash at the end', 'production', 'no slash at the end'],
];

const NO_BODY = 'nothing';

function bodyIn({ response, json }: Exchange): string {
  if ((response?.body ?? '') === '') return NO_BODY;
  return typeof valueAt(json, '/message') === 'string' ? '{message}' : 'a body of its own';
}

/** What a service does where the specification is silent, by name. */
export function serviceDialect(transcript: Transcript): Record<string, string> {
  const { exchanges } = transcript;
  const card: Record<string, string> = {};
  for (const [name, endpoint, ...steps] of silences) {
    const seen = exchanges.filter(
      (one) => one.endpoint === endpoint && steps.includes(one.step) && !putOff(one),
    );
    if (seen.length > 0) card[name] = [...new Set(seen.map(outcome))].join(', ');
  }
  for (const status of [401, 403, 404, 413, 415, 429]) {
    const bodies = exchanges.filter(
      (one) => one.response?.status === status && one.endpoint !== 'admin',
    );
    if (bodies.length > 0) card[`body of ${status}`] = [...new Set(bodies.map(bodyIn))].join(', ');
  }
  return { ...card, ...oddities(transcript) };
}

function oddities(transcript: Transcript): Record<string, string> {
  const last = (endpoint: Endpoint, step: string): Exchange | undefined =>
    transcript.exchanges.findLast(
      (one) => one.endpoint === endpoint && one.step === step && accepted(one),
    );
  const again = last('end', 'close again');
  const capped = last('production', 'over the cap');
  const wrapped = sessionOf(transcript, 'wrapper');
  return {
    ...(again && { 'evaluations_queued of a repeat': wordOf(again, '/evaluations_queued') }),
    ...(capped && { 'limit echoed for 501': wordOf(capped, '/limit') }),
    ...(wrapped && { 'turns of a wrapped chat span': String(turnsOf(wrapped).length) }),
  };
}

const wordOf = ({ json }: Exchange, pointer: string): string => {
  const value = valueAt(json, pointer);
  return typeof value === 'number' ? String(value) : 'no number';
};
