import type { RunRecord } from '../../../src/contract/index.ts';
import { isServiceRun } from '../../areas/index.ts';
import {
  type Exchange,
  accepted,
  isObject,
  outcome,
  printable,
  putOff,
} from '../transcript/reading.ts';
import type { Gate } from './preflight.ts';

type Text = Pick<Gate, 'says' | 'cure'>;

const WRONG_PLACE = 'Check that the URL leads to the sandbox: something else answers there.';

const texts: Partial<Record<Gate['id'], Text>> = {
  timeout: {
    says: 'Connections are accepted, but no request is answered in time.',
    cure: 'Check that the sandbox itself runs, not only what stands before it.',
  },
  reset: {
    says: 'Every connection is dropped before the answer is whole.',
    cure: 'Look into the log of the sandbox: it, or a proxy before it, closes the connection.',
  },
  protocol: {
    says: 'What answers at this address does not speak HTTP.',
    cure: 'Check the port, and https:// against http://.',
  },
  wrongly_encoded: {
    says: 'Every answer has a Content-Encoding that its body does not have.',
    cure: 'Check what compresses the answers, such as a proxy: nothing asked for it.',
  },
  too_large: {
    says: 'Every answer is larger than anything that the interface has.',
    cure: WRONG_PLACE,
  },
  empty: { says: 'Every answer is empty.', cure: WRONG_PLACE },
  not_json: { says: 'No answer is a JSON object.', cure: WRONG_PLACE },
  server_error: {
    says: 'Every request is answered with a server error.',
    cure: 'Look into the log of the sandbox, or of the proxy before it: nothing of it works.',
  },
  all_refused: {
    says: 'Every request is refused, whichever it is.',
    cure: `${WRONG_PLACE} If it is the right one, its answer says what it lacks.`,
  },
  rate_limited: {
    says: 'Every request is put off with 429, for longer than the kit waits.',
    cure: 'Raise the limit of the sandbox for this key, or run with --rate.',
  },
};

/** The chat of the preflight was put off for good. */
export function rateLimited(probes: Exchange[]): Gate | undefined {
  const chat = probes.find(({ endpoint }) => endpoint === 'chat');
  const known = texts['rate_limited'];
  return chat && known && putOff(chat)
    ? { id: 'rate_limited', ...known, evidence: chat }
    : undefined;
}

/** Every probe, of two at least, went wrong in a way that no sandbox does. */
export function allAlike(probes: Exchange[], run: RunRecord): Gate | undefined {
  const kinds = probes.map((one) => deadness(one, isServiceRun(run)));
  const [first] = probes;
  const [kind] = kinds;
  const known = kind && texts[kind];
  if (
    !first ||
    !kind ||
    !known ||
    kinds.some((other) => other !== kind && !bothBroken(other, kind))
  ) {
    return undefined;
  }
  if (probes.length < 2 && !WITHOUT_HTTP.includes(kind)) return undefined;
  const says = known.says.replace(/\.$/, `${detailOf(kind, probes)}.`);
  return { id: kind, says, cure: cureOf(kind, known.cure, run.target), evidence: first };
}

/** One probe is enough where there is no HTTP to be judged. */
const WITHOUT_HTTP: readonly Gate['id'][] = ['reset', 'protocol', 'wrongly_encoded'];

/** Answers that never come to their end are too long for one, and not in time for another. */
const ENDLESS: readonly (Gate['id'] | undefined)[] = ['too_large', 'timeout'];
const bothBroken = (one: Gate['id'] | undefined, other: Gate['id']): boolean =>
  ENDLESS.includes(one) && ENDLESS.includes(other);

function cureOf(kind: Gate['id'], cure: string, target: string): string {
  const other = target.startsWith('https:')
    ? 'Or the port has no TLS: try http://.'
    : 'Or the port wants TLS: try https://.';
  return kind === 'reset' || (kind === 'timeout' && target.startsWith('https:'))
    ? `${cure} ${other}`
    : cure;
}

/** What it was in this case: the statuses, the start of a body, why it could not be read. */
function detailOf(kind: Gate['id'], probes: readonly Exchange[]): string {
  const [first] = probes;
  const body = JSON.stringify(printable(first?.response?.body ?? '', 40));
  if (kind === 'not_json') return `: ${body}`;
  if (kind === 'too_large') return ` (${first?.failure?.message ?? ''})`;
  if (kind !== 'server_error' && kind !== 'all_refused') return '';
  return `: ${[...new Set(probes.map(outcome))].join(', ')}${body === '""' ? '' : ` (${body})`}`;
}

function deadness(one: Exchange, isService: boolean): Gate['id'] | undefined {
  const { failure, response, json } = one;
  if (failure) {
    // Whose status came speaks HTTP.
    const isEncoding = failure.kind === 'protocol' && failure.status !== undefined;
    return isEncoding ? 'wrongly_encoded' : failure.kind;
  }
  if (putOff(one)) return 'rate_limited';
  const { status = 0, body = '' } = response ?? {};
  if (accepted(one)) return body.trim() === '' ? 'empty' : isObject(json) ? undefined : 'not_json';
  // What a sandbox says of its health is judged, whatever it says of the rest.
  if (!isService) return undefined;
  return status >= 500 ? 'server_error' : status >= 400 ? 'all_refused' : undefined;
}
