import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import type { VoiceRequirementId } from '../requirements.ts';
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
import { KNOWN_TYPES } from '../observed.ts';
import { isVoiceStep, optionalPartSteps } from '../steps.ts';
import {
  isValidCall,
  checkMessageShape,
  explainNoCall,
  explainNoMedia,
  callFinding,
} from './call-checks.ts';

const noCallReadyHasField = unjudgedAs('not_applicable', 'No call_ready has this field.');
const explainNoUpdate: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isConnected)
    ? { verdict: 'not_observed', reason: 'The sandbox sent no conversation_update.' }
    : explainNoMedia(transcript);
const noUpdateHasField: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(
    (exchange) => sandboxMessagesOf(exchange, 'conversation_update').length > 0,
  )
    ? { verdict: 'not_applicable', reason: 'No conversation_update has this field.' }
    : explainNoUpdate(transcript);

const checkReady = (unjudged: Check['unjudged'], ...places: string[]): Check =>
  checkMessageShape({ message: 'CallReady', type: 'call_ready', places, unjudged });
const checkUpdate = (unjudged: Check['unjudged'], ...places: string[]): Check =>
  checkMessageShape({
    message: 'ConversationUpdate',
    type: 'conversation_update',
    places,
    unjudged,
  });

/** Returns whether `start_call` has its `audio_config` in `metadata`. */
const isFull = (exchange: Exchange): boolean =>
  resolvePointer(startCallOf(exchange), '/metadata/audio_config') !== undefined;
const omitsOptionalParts = isVoiceStep(...optionalPartSteps);
const isAfterOtherCalls = isVoiceStep('after other calls');

/** Describes what the sandbox sent instead of `call_ready`. */
function describeOtherResponse(exchange: Exchange): string {
  const [error] = sandboxMessagesOf(exchange, 'error');
  const [other] = sandboxMessagesOf(exchange);
  const close = sandboxCloseOf(exchange);
  if (error) {
    const { code, message } = isObject(resolvePointer(error.json, '/error'))
      ? (resolvePointer(error.json, '/error') as Record<string, unknown>)
      : {};
    return `an error with the code ${toPrintable(`${formatValue(code)} (${formatValue(message)})`)}`;
  }
  if (exchange.failure?.kind === 'too_large') return exchange.failure.message;
  if (other) return toPrintable(other.event.text ?? '');
  return close ? `a closed WebSocket with ${close.code ?? 'no code'}` : 'no message';
}

/** Checks that some of the valid calls get a `call_ready`. */
function checkGetsReady(
  isJudged: (exchange: Exchange) => boolean,
  unjudged = explainNoCall,
): Check {
  return checkEach(
    (exchange) =>
      isValidCall(exchange) &&
      isOpened(exchange) &&
      startCallOf(exchange) !== undefined &&
      isJudged(exchange),
    (exchange) =>
      callReadyOf(exchange)
        ? []
        : [callFinding(exchange, 'call_ready after start_call', describeOtherResponse(exchange))],
    unjudged,
  );
}

/** Judges a check only if the full form of `start_call` gets a `call_ready`. */
function onlyIfFullWorks(check: Check): Check {
  const isAccepted = ({ exchanges }: Transcript): boolean =>
    exchanges.some(
      (exchange) =>
        isValidCall(exchange) &&
        isFull(exchange) &&
        isVoiceStep('full')(exchange) &&
        callReadyOf(exchange),
    );
  return {
    ...check,
    evidence: (transcript) => (isAccepted(transcript) ? check.evidence(transcript) : []),
  };
}

/** The checks for messages and the ids in them, by requirement. */
export const messageChecks = {
  'VOICE-010': checkGetsReady(
    (exchange) => isFull(exchange) && !omitsOptionalParts(exchange) && !isAfterOtherCalls(exchange),
  ),
  'VOICE-011': checkGetsReady(isVoiceStep('minimal')),
  'VOICE-012': onlyIfFullWorks(checkGetsReady(omitsOptionalParts)),
  'VOICE-013': checkUnbroken(),
  'VOICE-014': checkEach(
    (exchange) => sandboxMessagesOf(exchange).length > 0,
    (exchange) =>
      sandboxMessagesOf(exchange)
        .filter(({ type, event }) => type === undefined && event.bytes === undefined)
        .map(({ event }) =>
          callFinding(
            exchange,
            'a JSON object with a type',
            toPrintable(event.text ?? '') || 'an empty message',
          ),
        ),
    explainNoCall,
  ),
  'VOICE-015': checkEach(
    (exchange) => sandboxMessagesOf(exchange).length > 0,
    (exchange) =>
      sandboxMessagesOf(exchange).some(({ event }) => event.isBinary)
        ? [callFinding(exchange, 'a text frame', 'a binary frame')]
        : [],
    explainNoCall,
  ),
  'VOICE-016': checkEach(
    (exchange) => sandboxMessagesOf(exchange).length > 0,
    (exchange) =>
      sandboxMessagesOf(exchange).flatMap(({ type }) =>
        type === undefined || KNOWN_TYPES.includes(type)
          ? []
          : [callFinding(exchange, `one of ${KNOWN_TYPES.join(', ')}`, toPrintable(type, 40))],
      ),
    explainNoCall,
  ),
  'VOICE-020': checkReady(explainNoCall, '/call_id'),
  'VOICE-021': checkReady(
    explainNoCall,
    '/webrtc_offer',
    '/webrtc_offer/type',
    '/webrtc_offer/sdp',
  ),
  'VOICE-022': checkReady(noCallReadyHasField, '/session_id'),
  'VOICE-023': checkSessionId('call_ready', explainNoCall),
  'VOICE-024': checkReady(
    noCallReadyHasField,
    ...['/metadata', '/metadata/agent_ready', '/metadata/audio_codec'],
    '/metadata/estimated_setup_time',
  ),
  'VOICE-025': checkReady(
    noCallReadyHasField,
    ...['/evaluation_metadata', '/evaluation_metadata/connection_quality'],
    ...['/evaluation_metadata/setup_success', '/evaluation_metadata/audio_path_established'],
  ),
  'VOICE-026': checkUniqueCallIds(),
  'VOICE-027': checkEach(
    (exchange) =>
      isValidCall(exchange) &&
      typeof resolvePointer(callReadyOf(exchange)?.json, '/metadata/audio_codec') === 'string',
    (exchange) => {
      const codec = String(resolvePointer(callReadyOf(exchange)?.json, '/metadata/audio_codec'));
      return codec.toLowerCase() === 'opus'
        ? []
        : [callFinding(exchange, 'opus', toPrintable(codec, 40))];
    },
    noCallReadyHasField,
  ),
  'VOICE-031': checkUpdate(explainNoUpdate, '/transcript', '/transcript/user', '/transcript/agent'),
  'VOICE-032': checkSameCallId(),
  'VOICE-033': checkSessionId('conversation_update', explainNoUpdate),
  'VOICE-034': checkUpdate(
    noUpdateHasField,
    ...['/metadata', '/metadata/audio_quality', '/metadata/response_time_ms'],
    '/metadata/confidence_score',
  ),
  'VOICE-035': checkUpdate(
    noUpdateHasField,
    ...['/evaluation_metadata', '/evaluation_metadata/understood_intent'],
    ...['/evaluation_metadata/appropriate_response', '/evaluation_metadata/tone'],
    '/evaluation_metadata/next_action',
  ),
  'VOICE-060': checkSeparateCalls(),
  'VOICE-081': {
    ...checkGetsReady(isAfterOtherCalls),
    evidence: (transcript) =>
      transcript.exchanges.some(
        (exchange) =>
          isValidCall(exchange) &&
          isFull(exchange) &&
          callReadyOf(exchange) &&
          !isAfterOtherCalls(exchange),
      )
        ? transcript.exchanges.filter(isAfterOtherCalls)
        : [],
  },
} satisfies Partial<Record<VoiceRequirementId, Check>>;

const NORMAL_CLOSE_CODES = [1000, 1001, 1005];

/** Checks calls with a `call_ready` up to the hang-up. VOICE-070 covers calls that don't connect. */
function checkUnbroken(): Check {
  return checkEach(
    (exchange) =>
      isValidCall(exchange) &&
      callReadyOf(exchange) !== undefined &&
      eventsOf(exchange, 'unconnected').length === 0,
    (exchange) => {
      const [error] = sandboxMessagesOf(exchange, 'error').filter(
        ({ event }) => event.atMs <= hangUpMsOf(exchange),
      );
      if (error)
        return [callFinding(exchange, 'a call without an error', describeOtherResponse(exchange))];
      if (exchange.failure?.kind === 'too_large') {
        return [
          callFinding(
            exchange,
            'a call that continues until the hang-up',
            exchange.failure.message,
          ),
        ];
      }
      const close = sandboxCloseOf(exchange);
      if (!close || NORMAL_CLOSE_CODES.includes(close.code ?? 0)) return [];
      const received =
        close.code === 1006 ? 'a dropped connection' : `a close with ${close.code ?? 'no code'}`;
      return [callFinding(exchange, 'a call that continues until the hang-up', received)];
    },
    explainNoCall,
  );
}

/** Checks that messages echo the `session_id` of `start_call`. VOICE-022 covers its type. */
function checkSessionId(
  type: 'call_ready' | 'conversation_update',
  unjudged: Check['unjudged'],
): Check {
  const sent = (exchange: Exchange): unknown => startCallOf(exchange)?.['session_id'];
  return checkEach(
    (exchange) =>
      typeof sent(exchange) === 'string' && sandboxMessagesOf(exchange, type).length > 0,
    (exchange) =>
      sandboxMessagesOf(exchange, type).flatMap(({ json }): Finding[] => {
        const actual = resolvePointer(json, '/session_id');
        const isJudged = actual === undefined || typeof actual === 'string';
        if (!isJudged || actual === sent(exchange)) return [];
        const [expected, received] = [formatValue(sent(exchange)), formatValue(actual)];
        return [{ exchange: exchange.id, pointer: '/session_id', expected, received }];
      }),
    unjudged,
  );
}

function checkUniqueCallIds(): Check {
  const withId = ({ exchanges }: Transcript): Exchange[] =>
    exchanges.filter(
      (exchange) => isVoice(exchange) && callReadyIdOf(exchange, 'call_id') !== undefined,
    );
  return {
    evidence: (transcript) => {
      const calls = withId(transcript);
      return calls.length > 1 ? calls : [];
    },
    judge(calls) {
      const firstOf = new Map<string | undefined, Exchange>();
      return calls.flatMap((exchange): Finding[] => {
        const id = callReadyIdOf(exchange, 'call_id');
        const first = firstOf.get(id);
        if (!first) {
          firstOf.set(id, exchange);
          return [];
        }
        const expected = `a different call_id from the one in exchange ${first.id}`;
        return [
          { exchange: exchange.id, pointer: '/call_id', expected, received: formatValue(id) },
        ];
      });
    },
    unjudged: explainNoCall,
  };
}

function checkSameCallId(): Check {
  return checkEach(
    (exchange) =>
      callReadyIdOf(exchange, 'call_id') !== undefined &&
      sandboxMessagesOf(exchange, 'conversation_update').length > 0,
    (exchange) =>
      sandboxMessagesOf(exchange, 'conversation_update').flatMap(({ json }): Finding[] => {
        const [id, actual] = [callReadyIdOf(exchange, 'call_id'), resolvePointer(json, '/call_id')];
        if (actual === id) return [];
        return [
          {
            exchange: exchange.id,
            pointer: '/call_id',
            expected: formatValue(id),
            received: formatValue(actual),
          },
        ];
      }),
    explainNoUpdate,
  );
}

/** Returns the call id and the session id of a call. */
function idsOf(exchange: Exchange): string[] {
  const session = startCallOf(exchange)?.['session_id'];
  const id = callReadyIdOf(exchange, 'call_id');
  return [...(id === undefined ? [] : [id]), ...(typeof session === 'string' ? [session] : [])];
}

/** Checks that no message of a call contains an id of a concurrent call. */
function checkSeparateCalls(): Check {
  const concurrentCallsOf = (exchange: Exchange, { exchanges }: Transcript): Exchange[] =>
    exchanges.filter(
      (other) =>
        isVoice(other) &&
        other.id !== exchange.id &&
        idsOf(other).length > 0 &&
        other.startedMs < exchange.endedMs &&
        other.endedMs > exchange.startedMs,
    );
  return checkEach(
    (exchange, transcript) =>
      idsOf(exchange).length > 0 &&
      callReadyOf(exchange) !== undefined &&
      concurrentCallsOf(exchange, transcript).length > 0,
    (exchange, transcript) => {
      const own = idsOf(exchange);
      return concurrentCallsOf(exchange, transcript).flatMap((other) =>
        idsOf(other)
          .filter((id) => !own.includes(id))
          .filter((id) =>
            sandboxMessagesOf(exchange).some(({ event }) =>
              event.text?.includes(JSON.stringify(id)),
            ),
          )
          .map((id) =>
            callFinding(
              exchange,
              'only ids of this call',
              `${formatValue(id)}, an id of exchange ${other.id}`,
            ),
          ),
      );
    },
    unjudgedAs('not_observed', 'No two calls were open at the same time.'),
  );
}
