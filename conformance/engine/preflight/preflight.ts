import type { RunRecord } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import type { Suite } from '../area.ts';
import { routeNames } from '../checks/route-names.ts';
import { isShorterBody } from '../transcript/failure-messages.ts';
import { findBodyFault } from '../transcript/json-fault.ts';
import { isOpened, isVoice } from '../transcript/call-messages.ts';
import { describeRedirect, isRedirect } from '../transcript/redirects.ts';
import { repetitionOf } from '../transcript/repetitions.ts';
import {
  describeOutcome,
  type Exchange,
  isRateLimited,
  PREFLIGHT,
  toPrintable,
  type Transcript,
} from '../transcript/reading.ts';
import type { BlockingCause, Preflight } from './blocking-cause.ts';
import { findFinishedPart } from './interruption.ts';
import { findKeyRefusal } from './key-refusal.ts';
import { findLossOfPeer } from './loss-of-peer.ts';
import { findMissingInterface } from './missing-interface.ts';
import { findLoginPage, findRefusalPage } from './page-causes.ts';

type CauseId = BlockingCause['id'];

/**
 * Returns the cause that keeps a run from being judged; undefined if the run can be judged. The
 * status and the body of `/health` alone never block a run, because they are findings. The only
 * exception is an HTML login page.
 */
export function findBlockingCause(suite: Suite, transcript: Transcript): BlockingCause | undefined {
  const { run } = transcript;
  const sent = transcript.exchanges.filter(({ probe }) => probe === PREFLIGHT);
  const exchanges = sent.filter(
    (exchange) => !isRepeated(exchange, sent) && !repetitionOf(exchange, transcript),
  );
  const preflight: Preflight = { run, exchanges };
  return (
    findInterruption(transcript, suite) ??
    suite.findRecordingCause?.(transcript) ??
    findConnectionFailure(preflight, suite) ??
    findCertificateRefusal(preflight, suite) ??
    findLoginPage(exchanges, suite) ??
    findRedirect(preflight) ??
    findRefusalPage(preflight, suite) ??
    findKeyRefusal(preflight, suite) ??
    findRateLimit(exchanges, suite) ??
    findMissingInterface(preflight, suite) ??
    findCommonFailure(preflight, suite) ??
    findAbsentArea(preflight, suite) ??
    findLossOfPeer(transcript, suite)
  );
}

function isRepeated(exchange: Exchange, sent: readonly Exchange[]): boolean {
  const isRepetition = ({ endpoint, step, id }: Exchange): boolean =>
    endpoint === exchange.endpoint && step === exchange.step && id > exchange.id;
  return isRateLimited(exchange) && sent.some(isRepetition);
}

/** An interruption while the run waits for a peer that became unreachable does not hide that. */
function findInterruption(transcript: Transcript, suite: Suite): BlockingCause | undefined {
  if (transcript.run.interrupted !== true) return undefined;
  const loss = findLossOfPeer(transcript, suite);
  if (loss) return loss;
  const finished = findFinishedPart(suite, transcript);
  const before = finished && !findBlockingCause(suite, finished) ? finished : undefined;
  return {
    id: 'interrupted',
    message: 'The run was interrupted.',
    cure: before
      ? 'The verdicts found so far remain, and the other requirements are blocked. To judge them, run it again.'
      : suite.peer === 'client'
        ? 'The client may not have sent all its requests, so nothing is judged. Run it again, and wait until the command ends.'
        : 'Run it again.',
    evidence: undefined,
    ...(before && { before }),
  };
}

/** The values that appear in the texts of a cause. */
interface TextContext {
  peer: Suite['peer'];
  target: string;
  /** What was specific to this run: an error message, a status, the start of a body. */
  detail: string;
  certificateGiven?: boolean | undefined;
  /** A response began, so the peer does speak HTTP. */
  isHttp?: boolean;
  /** Advice about a body that is almost JSON. */
  cure?: string | undefined;
}

type Texts = Partial<Record<CauseId, (context: TextContext) => [message: string, cure: string]>>;

const connectionTexts: Texts = {
  unresolved: ({ target }) => [
    `Can't resolve the host name of ${target}.`,
    'Check the URL for typos, and check that this machine can resolve the name.',
  ],
  refused: ({ target, peer }) => [
    `Nothing accepts connections at ${target}.`,
    `Start the ${peer}, or check the host and port of the URL.`,
  ],
  tls: ({ target, detail }) => [
    `The TLS handshake with ${target} failed (${detail}).`,
    /alert handshake failure/i.test(detail)
      ? 'If the server demands a client certificate, pass it with --cert FILE and --key FILE.'
      : 'If your own CA issued the certificate, pass that CA with --ca FILE.',
  ],
  proxy: ({ detail }) => [
    `Can't connect: ${detail}.`,
    'Check HTTPS_PROXY and HTTP_PROXY. To connect without the proxy, add the host to NO_PROXY.',
  ],
  certificate_demanded: ({ peer }) => [
    `The ${peer} demands a client certificate.`,
    'Pass the certificate with --cert FILE and its private key with --key FILE.',
  ],
  certificate_refused: ({ peer, detail }) => [
    `The ${peer} refuses the client certificate (${detail}).`,
    `Check that it has not expired, and that a CA that the ${peer} trusts issued it.`,
  ],
  plain_http: ({ peer }) => [
    'The port speaks plain HTTP, not TLS.',
    `Use an http:// URL, or the port on which the ${peer} speaks TLS.`,
  ],
};

function findConnectionFailure(
  { run, exchanges }: Preflight,
  { peer }: Suite,
): BlockingCause | undefined {
  if (exchanges.some(({ response }) => response)) return undefined;
  // The voice endpoint may be on another host, and has its own causes.
  for (const evidence of exchanges.filter((exchange) => !isVoice(exchange))) {
    const { failure } = evidence;
    const id = failure && (findCertificateCause(failure.message, run) ?? failure.kind);
    const textsOf = id && connectionTexts[id];
    if (!textsOf) continue;
    const [message, cure] = textsOf({ peer, target: run.target, detail: failure.message });
    return { id, message, cure, evidence };
  }
  return undefined;
}

/** TLS alerts about the certificate of the client; the server sends them. */
const CERTIFICATE_ALERT =
  /alert (certificate|bad certificate|unknown ca|unsupported certificate|access denied|handshake failure)/i;

/** Recognizes a failure that is due to the client certificate, or to its absence. */
function findCertificateCause(message: string, run: RunRecord): CauseId | undefined {
  if (!CERTIFICATE_ALERT.test(message)) return undefined;
  if (run.certificateGiven) return 'certificate_refused';
  // A handshake fails for many reasons, such as a missing common cipher.
  return /certificate/i.test(message) ? 'certificate_demanded' : undefined;
}

/** What gateways respond over HTTP if the client certificate is missing or wrong. */
const CERTIFICATE_RESPONSE = /no required SSL certificate was sent|SSL certificate error/i;

/** Recognizes a gateway that completes the handshake and then refuses every request. */
function findCertificateRefusal(
  { run, exchanges }: Preflight,
  { peer }: Suite,
): BlockingCause | undefined {
  const answered = exchanges.filter(({ response }) => response);
  const isRefusal = ({ response }: Exchange): boolean =>
    (response?.status ?? 0) >= 400 && CERTIFICATE_RESPONSE.test(response?.body ?? '');
  const [evidence] = answered;
  if (!evidence || !answered.every(isRefusal)) return undefined;
  const id = run.certificateGiven ? 'certificate_refused' : 'certificate_demanded';
  const detail = describeOutcome(evidence);
  const [message, cure] = connectionTexts[id]?.({ peer, target: run.target, detail }) ?? ['', ''];
  return { id, message, cure, evidence };
}

function findRedirect({ run, exchanges }: Preflight): BlockingCause | undefined {
  const chat = exchanges.find(({ endpoint }) => endpoint === 'chat');
  const isHealthOnly = exchanges.every(({ endpoint }) => endpoint === 'health');
  const isEverything = !isHealthOnly && exchanges.every(isRedirect);
  const moved = chat && isRedirect(chat) ? chat : isEverything ? exchanges[0] : undefined;
  if (!moved) return undefined;
  const { destination, cure } = describeRedirect(moved, run.target);
  const redirects = `${routeNames[moved.endpoint]} redirects with ${moved.response?.status}`;
  return {
    id: 'redirect',
    message:
      destination === 'nowhere'
        ? `${redirects}, but the response has no Location header.`
        : `${redirects} to ${destination}. Redirects are not followed.`,
    cure: `${cure}.`,
    evidence: moved,
  };
}

const rateLimitTexts = (peer: Suite['peer']): [message: string, cure: string] => [
  `The ${peer} responds with 429 for longer than the kit retries.`,
  `Raise the rate limit of the ${peer} for this key, or send fewer requests with --rate.`,
];

function findRateLimit(exchanges: readonly Exchange[], { peer }: Suite): BlockingCause | undefined {
  const chat = exchanges.find(({ endpoint }) => endpoint === 'chat');
  if (!chat || !isRateLimited(chat)) return undefined;
  const [message, cure] = rateLimitTexts(peer);
  return { id: 'rate_limited', message, cure, evidence: chat };
}

const checkUrl = (peer: Suite['peer']): string =>
  `Check the URL: the server at this address does not behave like a ${peer}.`;

const checkLogs = (peer: Suite['peer']): string =>
  `Check the logs of the ${peer} and of any proxy in front of it.`;

const commonFailureTexts: Texts = {
  timeout: ({ peer, target }) => [
    'Every request timed out after its connection was accepted.',
    [
      `Check that the ${peer} itself is running, not only a proxy in front of it.`,
      ...(target.startsWith('https:') ? [tryOtherScheme(target)] : []),
    ].join(' '),
  ],
  reset: ({ peer, target, certificateGiven, isHttp }) => [
    'Every connection was closed before the response was complete.',
    [
      checkLogs(peer),
      ...(isHttp
        ? []
        : certificateGiven
          ? ['It may refuse the client certificate.']
          : [tryOtherScheme(target)]),
    ].join(' '),
  ],
  wrong_length: ({ detail }) => [
    `Every response has a wrong Content-Length: ${detail}.`,
    'Let the HTTP library set Content-Length, or set it to the number of bytes of the body.',
  ],
  protocol: () => [
    'The server at this address does not speak HTTP.',
    'Check the port, and check whether the URL starts with http:// or https://.',
  ],
  malformed: ({ detail }) => [
    `The HTTP parser cannot read any response: ${detail}.`,
    'Let the HTTP library write the headers. The parser of Node.js refuses some rare forms, such as a tab after the value of Content-Length.',
  ],
  wrongly_encoded: () => [
    'No response body is encoded as its Content-Encoding header says.',
    'Check what compresses the responses, for example a proxy. The kit does not ask for compression.',
  ],
  too_large: ({ peer, detail }) => [
    `Every response is larger than any response of the interface (${detail}).`,
    checkUrl(peer),
  ],
  empty: ({ peer }) => ['Every response is empty.', checkUrl(peer)],
  not_json: ({ peer, detail, cure }) => [
    `No response is a JSON object: ${detail}.`,
    cure ?? checkUrl(peer),
  ],
  server_error: ({ peer, detail }) => [
    `Every request returned a server error: ${detail}.`,
    checkLogs(peer),
  ],
  all_refused: ({ peer, detail }) => [
    `Every request was refused: ${detail}.`,
    `${checkUrl(peer)} If the URL is right, the response may say what is missing.`,
  ],
  rate_limited: ({ peer }) => rateLimitTexts(peer),
};

function tryOtherScheme(target: string): string {
  return target.startsWith('https:')
    ? 'If the port does not speak TLS, use http://.'
    : 'If the port speaks TLS, use https://.';
}

/** One such failure is enough: without HTTP there is nothing to judge. */
const FAILURES_WITHOUT_HTTP: readonly CauseId[] = [
  'reset',
  'protocol',
  'malformed',
  'wrongly_encoded',
];

/** A response that never ends may exceed the size limit in one request and time out in another. */
const ENDLESS: readonly (CauseId | undefined)[] = ['too_large', 'timeout'];

/** All requests, at least two, failed in the same way. A closed WebSocket may have failed otherwise. */
function findCommonFailure(
  { run, exchanges: sent }: Preflight,
  { peer, isBlockedByErrors }: Suite,
): BlockingCause | undefined {
  const exchanges = sent.some(isOpened) ? sent : sent.filter((exchange) => !isVoice(exchange));
  const [first] = exchanges;
  const kinds = exchanges.map((exchange) => classifyFailure(exchange, isBlockedByErrors));
  const [kind] = kinds;
  const textsOf = kind && commonFailureTexts[kind];
  if (!first || !textsOf) return undefined;
  const isSame = (other: CauseId | undefined): boolean =>
    other === kind || (ENDLESS.includes(other) && ENDLESS.includes(kind));
  if (!kinds.every(isSame)) return undefined;
  if (exchanges.length < 2 && !FAILURES_WITHOUT_HTTP.includes(kind)) return undefined;
  const fault = kind === 'not_json' ? first.response && findBodyFault(first.response) : undefined;
  const [message, cure] = textsOf({
    peer,
    target: run.target,
    detail: detailOf(kind, exchanges),
    certificateGiven: run.certificateGiven,
    isHttp: exchanges.some(({ failure }) => failure?.status !== undefined),
    cure: fault && `${fault.cure}.`,
  });
  return { id: kind, message, cure, evidence: first };
}

function classifyFailure(exchange: Exchange, isBlockedByErrors: boolean): CauseId | undefined {
  const { failure, response, json } = exchange;
  if (isShorterBody(exchange)) return 'wrong_length';
  if (failure) {
    // If a status was read, the peer does speak HTTP.
    const isEncoding = failure.kind === 'protocol' && failure.status !== undefined;
    return isEncoding ? 'wrongly_encoded' : failure.kind;
  }
  const { status = 0, body = '' } = response ?? {};
  if (status === 429) return 'rate_limited';
  if (status >= 200 && status < 300) {
    if (body.trim() === '') return 'empty';
    return isObject(json) ? undefined : 'not_json';
  }
  if (!isBlockedByErrors) return undefined;
  return status >= 500 ? 'server_error' : status >= 400 ? 'all_refused' : undefined;
}

function detailOf(kind: CauseId, exchanges: readonly Exchange[]): string {
  const [first] = exchanges;
  const body = JSON.stringify(toPrintable(first?.response?.body ?? '', 40));
  if (kind === 'not_json') {
    const fault = first?.response && findBodyFault(first.response);
    return fault ? `${body} (${fault.reason})` : body;
  }
  if (kind === 'too_large' || kind === 'wrong_length' || kind === 'malformed') {
    return first?.failure?.message ?? '';
  }
  const outcomes = [...new Set(exchanges.map(describeOutcome))].join(', ');
  return body === '""' ? outcomes : `${outcomes} (${body})`;
}

/** A run of one area has nothing to judge if the peer lacks that area. */
function findAbsentArea(preflight: Preflight, { areas }: Suite): BlockingCause | undefined {
  const [only, ...others] = preflight.run.areas;
  if (others.length > 0) return undefined;
  return areas.find(({ name }) => name === only)?.findAbsence?.(preflight);
}
