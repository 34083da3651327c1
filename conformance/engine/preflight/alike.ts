import type { RunRecord } from '../../../src/contract/index.ts';
import { isServiceRun } from '../../areas/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  type Exchange,
  isAccepted,
  describeOutcome,
  printable,
  isRateLimited,
} from '../transcript/reading.ts';
import type { BlockingCause } from './preflight.ts';

type Text = Pick<BlockingCause, 'message' | 'cure'>;

const WRONG_PLACE = 'Check that the URL leads to the sandbox: something else answers there.';

const texts: Partial<Record<BlockingCause['id'], Text>> = {
  timeout: {
    message: 'Connections are accepted, but no request is answered in time.',
    cure: 'Check that the sandbox itself runs, not only what stands before it.',
  },
  reset: {
    message: 'Every connection is dropped before the answer is whole.',
    cure: 'Look into the log of the sandbox: it, or a proxy before it, closes the connection.',
  },
  protocol: {
    message: 'What answers at this address does not speak HTTP.',
    cure: 'Check the port, and https:// against http://.',
  },
  wrongly_encoded: {
    message: 'Every answer has a Content-Encoding that its body does not have.',
    cure: 'Check what compresses the answers, such as a proxy: nothing asked for it.',
  },
  too_large: {
    message: 'Every answer is larger than anything that the interface has.',
    cure: WRONG_PLACE,
  },
  empty: { message: 'Every answer is empty.', cure: WRONG_PLACE },
  not_json: { message: 'No answer is a JSON object.', cure: WRONG_PLACE },
  server_error: {
    message: 'Every request is answered with a server error.',
    cure: 'Look into the log of the sandbox, or of the proxy before it: nothing of it works.',
  },
  all_refused: {
    message: 'Every request is refused, whichever it is.',
    cure: `${WRONG_PLACE} If it is the right one, its answer message what it lacks.`,
  },
  rate_limited: {
    message: 'Every request is put off with 429, for longer than the kit waits.',
    cure: 'Raise the limit of the sandbox for this key, or run with --rate.',
  },
};

/** The chat of the preflight was put off for good. */
export function rateLimited(probes: Exchange[]): BlockingCause | undefined {
  const chat = probes.find(({ endpoint }) => endpoint === 'chat');
  const known = texts['rate_limited'];
  return chat && known && isRateLimited(chat)
    ? { id: 'rate_limited', ...known, evidence: chat }
    : undefined;
}

/** Every probe, of two at least, went wrong in a way that no sandbox does. */
export function allAlike(probes: Exchange[], run: RunRecord): BlockingCause | undefined {
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
  const message = known.message.replace(/\.$/, `${detailOf(kind, probes)}.`);
  return { id: kind, message, cure: cureOf(kind, known.cure, run.target), evidence: first };
}

/** One probe is enough where there is no HTTP to be judged. */
const WITHOUT_HTTP: readonly BlockingCause['id'][] = ['reset', 'protocol', 'wrongly_encoded'];

/** Answers that never come to their end are too long for one, and not in time for another. */
const ENDLESS: readonly (BlockingCause['id'] | undefined)[] = ['too_large', 'timeout'];
const bothBroken = (one: BlockingCause['id'] | undefined, other: BlockingCause['id']): boolean =>
  ENDLESS.includes(one) && ENDLESS.includes(other);

function cureOf(kind: BlockingCause['id'], cure: string, target: string): string {
  const other = target.startsWith('https:')
    ? 'Or the port has no TLS: try http://.'
    : 'Or the port wants TLS: try https://.';
  return kind === 'reset' || (kind === 'timeout' && target.startsWith('https:'))
    ? `${cure} ${other}`
    : cure;
}

/** What it was in this case: the statuses, the start of a body, why it could not be read. */
function detailOf(kind: BlockingCause['id'], probes: readonly Exchange[]): string {
  const [first] = probes;
  const body = JSON.stringify(printable(first?.response?.body ?? '', 40));
  if (kind === 'not_json') return `: ${body}`;
  if (kind === 'too_large') return ` (${first?.failure?.message ?? ''})`;
  if (kind !== 'server_error' && kind !== 'all_refused') return '';
  return `: ${[...new Set(probes.map(describeOutcome))].join(', ')}${body === '""' ? '' : ` (${body})`}`;
}

function deadness(one: Exchange, isService: boolean): BlockingCause['id'] | undefined {
  const { failure, response, json } = one;
  if (failure) {
    // Whose status came speaks HTTP.
    const isEncoding = failure.kind === 'protocol' && failure.status !== undefined;
    return isEncoding ? 'wrongly_encoded' : failure.kind;
  }
  if (isRateLimited(one)) return 'rate_limited';
  const { status = 0, body = '' } = response ?? {};
  if (isAccepted(one))
    return body.trim() === '' ? 'empty' : isObject(json) ? undefined : 'not_json';
  // What a sandbox message of its health is judged, whatever it message of the rest.
  if (!isService) return undefined;
  return status >= 500 ? 'server_error' : status >= 400 ? 'all_refused' : undefined;
}
