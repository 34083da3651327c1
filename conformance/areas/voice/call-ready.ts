/** `call_ready`, except its SDP offer (spec 6). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { unjudgedAs, type Check, type Finding } from '../../engine/checks/check.ts';
import { drop, set } from '../../engine/mutants/combinators.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import { callReadyIdOf, callReadyOf, isVoice } from '../../engine/transcript/call-messages.ts';
import { toPrintable, type Exchange } from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import { ANY, distortCalls, editsOf, idsIn, replaceMessages } from './call-transforms.ts';
import { checkCalls, explainNoCall, isValidCall } from './evidence.ts';
import { missing } from '../fields.ts';
import { fieldsOfMessage } from './message-fields.ts';
import { checkSessionId, IDS_REASON } from './message-ids.ts';
import { OFFER_REASON } from './offer.ts';

const READY = 'call_ready';
const noReadyHasField = unjudgedAs('not_applicable', 'No call_ready has this field.');

const field = fieldsOfMessage({
  message: 'CallReady',
  explainNone: explainNoCall,
  explainNoField: noReadyHasField,
});
const sends = editsOf(READY);

const codecOf = (exchange: Exchange): unknown =>
  resolvePointer(callReadyOf(exchange)?.json, '/metadata/audio_codec');

const defaults = { probes: ['voice/forms'], wrapCheck: unlessAbsent } as const;

export const callReady: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-020': field('/call_id', {
      rule: '`call_ready` has a `call_id` string.',
      statements: ['6.12', '6.10'],
      reason: IDS_REASON,
      wrong: {
        'call-id-missing': ['/call_id', missing],
        'call-id-a-number': ['/call_id', 17],
      },
    }),
    'VOICE-021': field('/webrtc_offer', {
      rule: '`call_ready` has a `webrtc_offer` with the type `offer` and an `sdp` string.',
      statements: ['6.13', '6.14', '6.10'],
      reason: OFFER_REASON,
      wrong: {
        'offer-missing': ['/webrtc_offer', missing],
        'offer-a-string': ['/webrtc_offer', 'v=0'],
        'sdp-missing': ['/webrtc_offer/sdp', missing],
      },
      mutants: {
        'offer-an-answer': sends(
          'Sends the offer with the type `answer`.',
          set('/webrtc_offer/type', 'answer'),
        ),
      },
    }),
    'VOICE-022': field('/session_id', {
      rule: '`session_id` of `call_ready` is a string, if present.',
      statements: ['6.11'],
      wrong: {
        'session-a-number': ['/session_id', 5],
      },
      legal: {
        'own-sessions': distortCalls(
          'Generates a session id for a call without one.',
          replaceMessages(READY, (message) => [
            { session_id: `s-${String(message['call_id'])}`, ...message },
          ]),
        ),
      },
    }),
    'VOICE-023': {
      rule: '`session_id` of `call_ready` equals the one in `start_call`.',
      statements: ['6.11'],
      reason: IDS_REASON,
      check: checkSessionId(READY, explainNoCall),
      mutants: {
        'session-other': sends('Replaces `session_id` with its own.', set('/session_id', 'mine')),
        'session-missing': sends('Omits `session_id`.', drop('/session_id')),
      },
    },
    'VOICE-024': field('/metadata', {
      rule: 'In `metadata` of `call_ready`, `agent_ready` is a boolean, and `audio_codec` and `estimated_setup_time` are strings, if present.',
      statements: ['6.15', '6.16', '6.17'],
      wrong: {
        'agent-ready-yes': ['/metadata/agent_ready', 'yes'],
        'codecs-listed': ['/metadata/audio_codec', ['opus']],
        'setup-time-a-number': ['/metadata/estimated_setup_time', 200],
        'metadata-null': ['/metadata', null],
      },
    }),
    'VOICE-025': field('/evaluation_metadata', {
      rule: 'In `evaluation_metadata` of `call_ready`, `connection_quality` is a string, and `setup_success` and `audio_path_established` are booleans, if present.',
      statements: ['6.18', '6.19', '6.20'],
      wrong: {
        'quality-a-number': ['/evaluation_metadata/connection_quality', 5],
        'setup-success-a-string': ['/evaluation_metadata/setup_success', 'true'],
        'audio-path-a-number': ['/evaluation_metadata/audio_path_established', 0],
      },
    }),
    'VOICE-026': {
      rule: 'Every call has its own `call_id`.',
      statements: ['6.12'],
      reason: IDS_REASON,
      check: checkUniqueCallIds(),
      mutants: {
        'call-ids-alike': distortCalls(
          'Sends the same `call_id` in every call.',
          replaceMessages(ANY, (message) => [
            'call_id' in message ? { ...message, call_id: 'call-1' } : message,
          ]),
        ),
      },
    },
    'VOICE-027': {
      level: 'may',
      rule: '`audio_codec` of `call_ready` equals the codec in `start_call`.',
      statements: ['6.16'],
      reason:
        "The specification doesn't require it, but a difference often means that the codec of the call is wrong.",
      check: checkCalls(
        (exchange) => isValidCall(exchange) && typeof codecOf(exchange) === 'string',
        (exchange) => {
          const codec = String(codecOf(exchange));
          return codec.toLowerCase() === 'opus' ? undefined : ['opus', toPrintable(codec, 40)];
        },
        noReadyHasField,
      ),
    },
  }),
  legal: {
    'more-keys': sends(
      'Sends fields that the interface does not define.',
      set('/agent', { name: 'Ada' }),
      set('/metadata/region', 'eu'),
    ),
    'bare-ready': sends(
      'Omits the optional fields of `call_ready`.',
      drop('/metadata'),
      drop('/evaluation_metadata'),
    ),
    'updates-at-once': distortCalls(
      'Starts the call with an update about its greeting.',
      replaceMessages(READY, (message) => [
        message,
        {
          type: 'conversation_update',
          ...idsIn(message),
          transcript: { user: '', agent: 'Hello!' },
        },
      ]),
    ),
    'ready-late': distortCalls(
      'Sends `call_ready` 700 ms late.',
      replaceMessages(READY, (message, ends) => {
        void ends.clock.sleep(700).then(() => ends.toKit(JSON.stringify(message)));
        return [];
      }),
    ),
  },
};

function checkUniqueCallIds(): Check {
  const withId = (exchanges: readonly Exchange[]): Exchange[] =>
    exchanges.filter((exchange) => isVoice(exchange) && callReadyIdOf(exchange) !== undefined);
  return {
    evidence({ exchanges }) {
      const calls = withId(exchanges);
      return calls.length > 1 ? calls : [];
    },
    judge(calls) {
      const firstOf = new Map<string | undefined, Exchange>();
      return calls.flatMap((exchange): Finding[] => {
        const id = callReadyIdOf(exchange);
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
