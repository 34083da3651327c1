import {
  type Exchange,
  PREFLIGHT,
  type Transcript,
  describeOutcome,
  printable,
  isRateLimited,
  isNotFound,
} from '../transcript/reading.ts';
import type { RunRecord } from '../../../src/contract/index.ts';
import { noWayOf } from '../../areas/checks.ts';
import { isVoice, isVoiceAbsent, refusedAsUnknown, UPGRADE } from '../transcript/call-messages.ts';
import { isServiceRun } from '../../areas/index.ts';
import { allAlike, rateLimited } from './alike.ts';
import { gone } from './gone.ts';
import { inServiceWords, noService } from './service.ts';

/** The one cause for which a run could not be judged: what the preflight found, or its early end. */
export interface BlockingCause {
  id:
    | 'unresolved'
    | 'refused'
    | 'tls'
    | 'plain_http'
    | 'timeout'
    | 'reset'
    | 'protocol'
    | 'login_page'
    | 'redirect'
    | 'key_refused'
    | 'empty'
    | 'not_json'
    | 'server_error'
    | 'all_refused'
    | 'wrongly_encoded'
    | 'rate_limited'
    | 'too_large'
    | 'nothing_here'
    | 'no_voice'
    | 'gone'
    | 'interrupted';
  /** What is wrong, in one sentence. */
  message: string;
  /** What to do about it. */
  cure: string;
  /** The exchange that shows it; an interrupted run may have none. */
  evidence: Exchange | undefined;
  /** What was exchanged before there was nothing to judge any more, of one that is `gone`. */
  before?: Transcript;
}

/**
 * Decides whether a run is judged at all. No status and no body of `/health` alone stops a run, an
 * HTML login page apart: they are findings.
 */
export function findBlockingCause(transcript: Transcript): BlockingCause | undefined {
  const gate = gateOf(transcript);
  return gate && isServiceRun(transcript.run) ? inServiceWords(gate) : gate;
}

function gateOf(transcript: Transcript): BlockingCause | undefined {
  const { run, exchanges } = transcript;
  const probes = exchanges.filter(({ probe }) => probe === PREFLIGHT);
  const final = probes.filter((one) => !isSuperseded(one, probes));
  const isVoiceRun = run.areas.join() === 'voice';
  return (
    interrupted(run.interrupted ?? false) ??
    unreachable(final) ??
    loginPage(final) ??
    redirect(final) ??
    keyRefused(final, run.keyGiven, isVoiceRun) ??
    rateLimited(final) ??
    nothingHere(final) ??
    noService(final) ??
    allAlike(final, run) ??
    (isVoiceRun ? noVoice(final, run) : undefined) ??
    gone(transcript)
  );
}

function interrupted(was: boolean): BlockingCause | undefined {
  if (!was) return undefined;
  const message = 'The run was interrupted.';
  return { id: 'interrupted', message, cure: 'Run it again.', evidence: undefined };
}

/** A probe that was put off and sent again message nothing. */
function isSuperseded(one: Exchange, probes: Exchange[]): boolean {
  const isAgain = ({ endpoint, step, id }: Exchange): boolean =>
    endpoint === one.endpoint && step === one.step && id > one.id;
  return isRateLimited(one) && probes.some(isAgain);
}

const noConnection: Partial<Record<string, Pick<BlockingCause, 'message' | 'cure'>>> = {
  unresolved: {
    message: 'The host name is not known.',
    cure: 'Check the URL for typing errors, and that this machine can resolve the name.',
  },
  refused: {
    message: 'Nothing accepts connections at this address.',
    cure: 'Start the sandbox, or check host and port of the URL.',
  },
  tls: {
    message: 'The TLS certificate is not accepted.',
    cure: 'If the certificate comes from a CA of your own, give that CA with --ca FILE.',
  },
  plain_http: {
    message: 'This port speaks plain HTTP, not TLS.',
    cure: 'Use http:// for a sandbox without TLS, or the port that has TLS.',
  },
};

function unreachable(probes: Exchange[]): BlockingCause | undefined {
  const first = probes.find(({ failure }) => noConnection[failure?.kind ?? '']);
  const kind = first?.failure?.kind;
  const known = noConnection[kind ?? ''];
  if (!first || !kind || !known || probes.some(({ response }) => response)) return undefined;
  const detail = kind === 'tls' ? ` (${first.failure?.message ?? ''})` : '';
  return {
    id: kind,
    message: known.message.replace(/\.$/, `${detail}.`),
    cure: known.cure,
    evidence: first,
  };
}

const isHtml = ({ response }: Exchange): boolean =>
  response !== undefined &&
  (/^text\/html/i.test(response.headers['content-type'] ?? '') ||
    /^\s*<(!doctype|html)/i.test(response.body));

const asksToLogIn = ({ response }: Exchange): boolean =>
  /<form|password|log[ -]?in|sign[ -]?in|single sign/i.test(response?.body ?? '');

function loginPage(probes: Exchange[]): BlockingCause | undefined {
  const health = probes.find(({ endpoint }) => endpoint === 'health');
  const everywhere = probes.length > 0 && probes.every(isHtml);
  const page = everywhere
    ? probes[0]
    : health && isHtml(health) && asksToLogIn(health)
      ? health
      : undefined;
  if (!page) return undefined;
  return {
    id: 'login_page',
    message: 'An HTML page answers here, not a sandbox.',
    cure: 'Something stands before the sandbox, such as a login or a proxy: let the kit pass it.',
    evidence: page,
  };
}

function redirect(probes: Exchange[]): BlockingCause | undefined {
  const isRedirect = ({ response }: Exchange): boolean =>
    response !== undefined && [301, 302, 303, 307, 308].includes(response.status);
  const chat = probes.find(({ endpoint }) => endpoint === 'chat');
  const moved = chat && isRedirect(chat) ? chat : probes.every(isRedirect) ? probes[0] : undefined;
  if (!moved) return undefined;
  return {
    id: 'redirect',
    message: `Requests are redirected to ${printable(moved.response?.headers['location'] ?? 'nowhere')}.`,
    cure: 'Give the address that answers itself: the service follows no redirects.',
    evidence: moved,
  };
}

const isUpgrade = (one: Exchange): boolean => isVoice(one) && one.step === UPGRADE;

const KEYED = /^(create|production)$/;

function keyRefused(
  probes: Exchange[],
  keyGiven: boolean,
  isVoiceRun: boolean,
): BlockingCause | undefined {
  const isRefusal = ({ response }: Exchange): boolean =>
    response?.status === 401 || response?.status === 403;
  const chat = probes.find(({ endpoint }) => endpoint === 'chat');
  const keyed =
    chat ?? probes.find((one) => (isVoiceRun ? isUpgrade(one) : KEYED.test(one.endpoint)));
  if (!keyed || !isRefusal(keyed) || (isVoiceRun && isVoiceAbsent(probes))) return undefined;
  return {
    id: 'key_refused',
    message: keyGiven
      ? `The sandbox refuses the given key with ${keyed.response?.status ?? ''}.`
      : `The sandbox wants a key (${keyed.response?.status ?? ''}), and none was given.`,
    cure: 'Put its bearer key into SANDBOX_KIT_API_KEY, or into a file for --api-key-file.',
    evidence: keyed,
  };
}

/**
 * An address where no path is known is no sandbox: neither health, nor users, nor chat. One of them
 * alone may be broken, or optional and absent; of all of them no sandbox is left.
 */
function nothingHere(probes: Exchange[]): BlockingCause | undefined {
  const [first] = probes;
  const isUsersRun = probes.some(({ endpoint }) => endpoint === 'create');
  if (!first || !isUsersRun) return undefined;
  const isNone = (one: Exchange): boolean =>
    isNotFound(one) || (isVoice(one) && one.failure !== undefined);
  if (!probes.every(isNone) || !probes.some(isNotFound)) return undefined;
  return {
    id: 'nothing_here',
    message: 'Nothing of the interface is at this address: every path is unknown there.',
    cure: 'Check the path of the URL: /health, /users and /v1/chat/completions are appended to it.',
    evidence: first,
  };
}

/** At an address that nobody can be asked at, no path that is none can be compared with. */
const NOBODY: readonly unknown[] = ['refused', 'unresolved', 'tls', 'plain_http', 'protocol'];

/**
 * A run of voice alone has nothing to judge where there is none; others go on without. What comes to
 * no answer is told by its cause: no more is known than that.
 */
function noVoice(probes: Exchange[], { voiceUrl = '' }: RunRecord): BlockingCause | undefined {
  const probe = probes.findLast(isUpgrade);
  if (!probe) return undefined;
  const { failure } = probe;
  const noWay = noWayOf(probe, voiceUrl);
  const isAlike = refusedAsUnknown(probes) !== undefined;
  if (failure && noWay && (isAlike || NOBODY.includes(failure.kind))) {
    return { id: failure.kind, ...noWay, evidence: probe };
  }
  if (!isVoiceAbsent(probes)) return undefined;
  return {
    id: 'no_voice',
    message: `There is no voice here: the WebSocket is refused like an unknown path (${describeOutcome(probe)}).`,
    cure: 'Check the address: /voice is appended to the URL, unless --voice-url names another.',
    evidence: probe,
  };
}
