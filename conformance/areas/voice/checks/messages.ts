import { brief, valueAt } from '../../../../src/contract/index.ts';
import type { voiceRequirements } from '../requirements.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { toPrintable, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import {
  sandboxCloseOf,
  eventsOf,
  hangUpMsOf,
  callReadyIdOf,
  isConnected,
  isOpened,
  isVoice,
  callReadyOf,
  sandboxMessagesOf,
  startCallOf,
} from '../../../engine/transcript/call-messages.ts';
import { unjudgedAs, checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import {
  isValidCall,
  checkMessageShape,
  explainNoCall,
  explainNoMedia,
  callFinding,
} from './call-checks.ts';

const NO_READY = unjudgedAs('not_applicable', 'No call_ready carries it.');
const NO_UPDATE: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isConnected)
    ? { verdict: 'not_observed', reason: 'No conversation_update came.' }
    : explainNoMedia(transcript);
const NO_UPDATE_HAS: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some((one) => sandboxMessagesOf(one, 'conversation_update').length > 0)
    ? { verdict: 'not_applicable', reason: 'No conversation_update carries it.' }
    : NO_UPDATE(transcript);

const ready = (absent: Check['unjudged'], ...at: string[]): Check =>
  checkMessageShape({ message: 'CallReady', type: 'call_ready', at, absent });
const update = (absent: Check['unjudged'], ...at: string[]): Check =>
  checkMessageShape({ message: 'ConversationUpdate', type: 'conversation_update', at, absent });

/** Whether `start_call` had its audio under metadata. */
const isFull = (one: Exchange): boolean =>
  valueAt(startCallOf(one), '/metadata/audio_config') !== undefined;
const LEAN = /^(without |only metadata)/;

/** What came in place of call_ready. */
function insteadOfReady(one: Exchange): string {
  const [error] = sandboxMessagesOf(one, 'error');
  const [other] = sandboxMessagesOf(one);
  const close = sandboxCloseOf(one);
  if (error) {
    const { code, message } = isObject(valueAt(error.json, '/error'))
      ? (valueAt(error.json, '/error') as Record<string, unknown>)
      : {};
    return `an error ${toPrintable(`${brief(code)} (${brief(message)})`)}`;
  }
  if (one.failure?.kind === 'too_large') return one.failure.message;
  if (other) return toPrintable(other.event.text ?? '');
  return close ? `the end of the WebSocket, ${close.code ?? 'no code'}` : 'nothing';
}

/** A call of some kind is followed by call_ready. */
function followed(isOf: (one: Exchange) => boolean, unjudged = explainNoCall): Check {
  return checkEach(
    (one) => isValidCall(one) && isOpened(one) && startCallOf(one) !== undefined && isOf(one),
    (one) =>
      callReadyOf(one)
        ? []
        : [callFinding(one, 'call_ready after start_call', insteadOfReady(one))],
    unjudged,
  );
}

/** Judged only where the full form was followed by call_ready. */
function onceFull(check: Check): Check {
  const isTaken = ({ exchanges }: Transcript): boolean =>
    exchanges.some(
      (one) => isValidCall(one) && isFull(one) && one.step === 'full' && callReadyOf(one),
    );
  return {
    ...check,
    evidence: (transcript) => (isTaken(transcript) ? check.evidence(transcript) : []),
  };
}

const KNOWN = ['call_ready', 'conversation_update', 'error', 'ice_candidate'];

/** The checks of the messages, and of the ids in them. */
export const messageChecks = {
  'VOICE-010': followed((one) => isFull(one) && !LEAN.test(one.step) && one.step !== 'after all'),
  'VOICE-011': followed(({ step }) => step === 'minimal'),
  'VOICE-012': onceFull(followed(({ step }) => LEAN.test(step))),
  'VOICE-013': unbroken(),
  'VOICE-014': checkEach(
    (one) => sandboxMessagesOf(one).length > 0,
    (one) =>
      sandboxMessagesOf(one)
        .filter(({ type, event }) => type === undefined && event.bytes === undefined)
        .map(({ event }) =>
          callFinding(one, 'a JSON object with a type', toPrintable(event.text ?? '') || 'nothing'),
        ),
    explainNoCall,
  ),
  'VOICE-015': checkEach(
    (one) => sandboxMessagesOf(one).length > 0,
    (one) =>
      sandboxMessagesOf(one).some(({ event }) => event.isBinary)
        ? [callFinding(one, 'a text frame', 'a binary frame')]
        : [],
    explainNoCall,
  ),
  'VOICE-016': checkEach(
    (one) => sandboxMessagesOf(one).length > 0,
    (one) =>
      sandboxMessagesOf(one).flatMap(({ type }) =>
        type === undefined || KNOWN.includes(type)
          ? []
          : [callFinding(one, `one of ${KNOWN.join(', ')}`, toPrintable(type, 40))],
      ),
    explainNoCall,
  ),
  'VOICE-020': ready(explainNoCall, '/call_id'),
  'VOICE-021': ready(explainNoCall, '/webrtc_offer', '/webrtc_offer/type', '/webrtc_offer/sdp'),
  'VOICE-022': ready(NO_READY, '/session_id'),
  'VOICE-023': echoed('call_ready', explainNoCall),
  'VOICE-024': ready(
    NO_READY,
    ...['/metadata', '/metadata/agent_ready', '/metadata/audio_codec'],
    '/metadata/estimated_setup_time',
  ),
  'VOICE-025': ready(
    NO_READY,
    ...['/evaluation_metadata', '/evaluation_metadata/connection_quality'],
    ...['/evaluation_metadata/setup_success', '/evaluation_metadata/audio_path_established'],
  ),
  'VOICE-026': ownCallIds(),
  'VOICE-027': checkEach(
    (one) =>
      isValidCall(one) &&
      typeof valueAt(callReadyOf(one)?.json, '/metadata/audio_codec') === 'string',
    (one) => {
      const codec = String(valueAt(callReadyOf(one)?.json, '/metadata/audio_codec'));
      return codec.toLowerCase() === 'opus'
        ? []
        : [callFinding(one, 'opus', toPrintable(codec, 40))];
    },
    NO_READY,
  ),
  'VOICE-031': update(NO_UPDATE, '/transcript', '/transcript/user', '/transcript/agent'),
  'VOICE-032': sameCallId(),
  'VOICE-033': echoed('conversation_update', NO_UPDATE),
  'VOICE-034': update(
    NO_UPDATE_HAS,
    ...['/metadata', '/metadata/audio_quality', '/metadata/response_time_ms'],
    '/metadata/confidence_score',
  ),
  'VOICE-035': update(
    NO_UPDATE_HAS,
    ...['/evaluation_metadata', '/evaluation_metadata/understood_intent'],
    ...['/evaluation_metadata/appropriate_response', '/evaluation_metadata/tone'],
    '/evaluation_metadata/next_action',
  ),
  'VOICE-060': keptApart(),
  'VOICE-081': {
    ...followed(({ step }) => step === 'after all'),
    evidence: (transcript) =>
      transcript.exchanges.some(
        (one) => isValidCall(one) && isFull(one) && callReadyOf(one) && one.step !== 'after all',
      )
        ? transcript.exchanges.filter((one) => isVoice(one) && one.step === 'after all')
        : [],
  },
} satisfies Partial<Record<keyof typeof voiceRequirements, Check>>;

const WELL_ENDED = [1000, 1001, 1005];

/** Calls that had begun well, up to the kit's hang-up; what media makes of them is VOICE-070. */
function unbroken(): Check {
  return checkEach(
    (one) =>
      isValidCall(one) &&
      callReadyOf(one) !== undefined &&
      eventsOf(one, 'unconnected').length === 0,
    (one) => {
      const [error] = sandboxMessagesOf(one, 'error').filter(
        ({ event }) => event.atMs <= hangUpMsOf(one),
      );
      if (error) return [callFinding(one, 'a call without an error', insteadOfReady(one))];
      if (one.failure?.kind === 'too_large') {
        return [callFinding(one, 'a call until it is hung up', one.failure.message)];
      }
      const close = sandboxCloseOf(one);
      if (!close || WELL_ENDED.includes(close.code ?? 0)) return [];
      const how = close.code === 1006 ? 'cut off' : `closed with ${close.code ?? 'nothing'}`;
      return [callFinding(one, 'a call until it is hung up', how)];
    },
    explainNoCall,
  );
}

/** A session_id goes with every message of a call that began with one; of which type, VOICE-022. */
function echoed(type: 'call_ready' | 'conversation_update', unjudged: Check['unjudged']): Check {
  const sent = (one: Exchange): unknown => startCallOf(one)?.['session_id'];
  return checkEach(
    (one) => typeof sent(one) === 'string' && sandboxMessagesOf(one, type).length > 0,
    (one) =>
      sandboxMessagesOf(one, type).flatMap(({ json }): Finding[] => {
        const came = valueAt(json, '/session_id');
        const isOther = came === undefined || typeof came === 'string';
        if (!isOther || came === sent(one)) return [];
        const [expected, received] = [brief(sent(one)), brief(came)];
        return [{ exchange: one.id, pointer: '/session_id', expected, received }];
      }),
    unjudged,
  );
}

function ownCallIds(): Check {
  const withId = ({ exchanges }: Transcript): Exchange[] =>
    exchanges.filter((one) => isVoice(one) && callReadyIdOf(one, 'call_id') !== undefined);
  return {
    evidence: (transcript) => {
      const calls = withId(transcript);
      return calls.length > 1 ? calls : [];
    },
    judge(calls) {
      const firstOf = new Map<string | undefined, Exchange>();
      return calls.flatMap((one): Finding[] => {
        const id = callReadyIdOf(one, 'call_id');
        const first = firstOf.get(id);
        if (!first) {
          firstOf.set(id, one);
          return [];
        }
        const expected = `another call_id than in exchange ${first.id}`;
        return [{ exchange: one.id, pointer: '/call_id', expected, received: brief(id) }];
      });
    },
    unjudged: explainNoCall,
  };
}

function sameCallId(): Check {
  return checkEach(
    (one) =>
      callReadyIdOf(one, 'call_id') !== undefined &&
      sandboxMessagesOf(one, 'conversation_update').length > 0,
    (one) =>
      sandboxMessagesOf(one, 'conversation_update').flatMap(({ json }): Finding[] => {
        const [id, came] = [callReadyIdOf(one, 'call_id'), valueAt(json, '/call_id')];
        if (came === id) return [];
        return [
          { exchange: one.id, pointer: '/call_id', expected: brief(id), received: brief(came) },
        ];
      }),
    NO_UPDATE,
  );
}

/** The ids by which a call is known. */
function idsOf(one: Exchange): string[] {
  const session = startCallOf(one)?.['session_id'];
  const id = callReadyIdOf(one, 'call_id');
  return [...(id === undefined ? [] : [id]), ...(typeof session === 'string' ? [session] : [])];
}

/** No message of a call has an id of a call beside it. */
function keptApart(): Check {
  const beside = (one: Exchange, { exchanges }: Transcript): Exchange[] =>
    exchanges.filter(
      (other) =>
        isVoice(other) &&
        other.id !== one.id &&
        idsOf(other).length > 0 &&
        other.startedMs < one.endedMs &&
        other.endedMs > one.startedMs,
    );
  return checkEach(
    (one, transcript) =>
      idsOf(one).length > 0 && callReadyOf(one) !== undefined && beside(one, transcript).length > 0,
    (one, transcript) => {
      const own = idsOf(one);
      return beside(one, transcript).flatMap((other) =>
        idsOf(other)
          .filter((id) => !own.includes(id))
          .filter((id) =>
            sandboxMessagesOf(one).some(({ event }) => event.text?.includes(JSON.stringify(id))),
          )
          .map((id) =>
            callFinding(one, 'ids of this call alone', `${brief(id)}, of exchange ${other.id}`),
          ),
      );
    },
    unjudgedAs('not_observed', 'No two calls were there at once.'),
  );
}
