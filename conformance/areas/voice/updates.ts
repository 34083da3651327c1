/** `conversation_update` (spec 6). */
import type { Check } from '../../engine/checks/check.ts';
import { drop, set } from '../../engine/mutants/combinators.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import { callReadyIdOf, isConnected } from '../../engine/transcript/call-messages.ts';
import { unlessAbsent } from './absence.ts';
import { distortCalls, editsOf, replaceMessages } from './call-transforms.ts';
import { isValidCall } from './evidence.ts';
import { checkConnectedCalls, explainNoMedia, hasReply, hasUpdate } from './media-evidence.ts';
import { missing } from '../fields.ts';
import { fieldsOfMessage } from './message-fields.ts';
import { isVoiceStep } from './requests.ts';
import { checkSameId, checkSessionId, IDS_REASON } from './message-ids.ts';

const UPDATE = 'conversation_update';
/** Longer than the kit waits for an update in the middle of a reply. */
const LATE_MS = 2_200;
const explainNoUpdate: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isConnected)
    ? { verdict: 'not_observed', reason: 'The sandbox sent no conversation_update.' }
    : explainNoMedia(transcript);
const noUpdateHasField: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(hasUpdate)
    ? { verdict: 'not_applicable', reason: 'No conversation_update has this field.' }
    : explainNoUpdate(transcript);

const field = fieldsOfMessage({
  message: 'ConversationUpdate',
  explainNone: explainNoUpdate,
  explainNoField: noUpdateHasField,
});
const sends = editsOf(UPDATE);

const defaults = {
  observability: 'provoked',
  inMedia: true,
  probes: ['voice/conversation'],
  wrapCheck: unlessAbsent,
} as const;

export const updates: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-030': {
      level: 'should',
      rule: 'The sandbox sends a `conversation_update` message after a spoken turn that it replied to.',
      statements: ['6.21'],
      reason:
        "Evals read the conversation from these messages. The service doesn't request them, so a missing one is only a warning.",
      check: checkConnectedCalls(
        // Other calls end in the middle of a reply, and the update may come after it.
        (exchange) =>
          isValidCall(exchange) &&
          hasReply(exchange) &&
          (isVoiceStep('conversation')(exchange) || hasUpdate(exchange)),
        (exchange) =>
          hasUpdate(exchange) ? undefined : ['a conversation_update', 'no conversation_update'],
      ),
      mutants: {
        'update-missing': distortCalls(
          'Sends no `conversation_update`.',
          replaceMessages(UPDATE, () => []),
        ),
      },
      legal: {
        'two-updates': distortCalls(
          'Sends two updates for each turn.',
          replaceMessages(UPDATE, (message) => [message, message]),
        ),
        'late-updates': distortCalls(
          'Sends `conversation_update` after the reply.',
          replaceMessages(UPDATE, (message, ends) => {
            void ends.clock.sleep(LATE_MS).then(() => ends.toKit(JSON.stringify(message)));
            return [];
          }),
        ),
      },
    },
    'VOICE-031': field('/transcript', {
      rule: '`transcript` of `conversation_update` has the strings `user` and `agent`.',
      statements: ['6.24'],
      reason:
        'Evals read the conversation from these strings; without them, they have nothing to score.',
      wrong: {
        'transcript-missing': ['/transcript', missing],
        'transcript-a-string': ['/transcript', 'Hi.'],
        'transcript-user-null': ['/transcript/user', null],
        'transcript-agent-missing': ['/transcript/agent', missing],
      },
    }),
    'VOICE-032': {
      rule: '`call_id` of `conversation_update` equals the one in `call_ready`.',
      statements: ['6.23'],
      reason: IDS_REASON,
      check: checkSameId(UPDATE, '/call_id', callReadyIdOf, explainNoUpdate),
      mutants: {
        'update-other-call': sends(
          'Replaces `call_id` of updates with its own.',
          set('/call_id', 'mine'),
        ),
        'update-no-call': sends('Omits `call_id` from updates.', drop('/call_id')),
      },
    },
    'VOICE-033': {
      rule: '`session_id` of `conversation_update` equals the one in `start_call`.',
      statements: ['6.22'],
      reason: IDS_REASON,
      check: checkSessionId(UPDATE, explainNoUpdate),
      mutants: {
        'update-other-session': sends(
          'Replaces `session_id` of updates with its own.',
          set('/session_id', 'mine'),
        ),
        'update-no-session': sends('Omits `session_id` from updates.', drop('/session_id')),
      },
    },
    'VOICE-034': field('/metadata', {
      rule: 'In `metadata` of `conversation_update`, `audio_quality` is a string, `response_time_ms` is an integer, and `confidence_score` is a number, if present.',
      statements: ['6.25', '6.26', '6.27'],
      wrong: {
        'confidence-a-word': ['/metadata/confidence_score', 'high'],
        'audio-quality-a-number': ['/metadata/audio_quality', 4.5],
      },
      mutants: {
        'response-time-a-string': sends(
          'Sends `response_time_ms` as a string with its unit.',
          set('/metadata/response_time_ms', '640 ms'),
        ),
        'response-time-fraction': sends(
          'Sends `response_time_ms` with a fraction.',
          set('/metadata/response_time_ms', 640.5),
        ),
      },
    }),
    'VOICE-035': field('/evaluation_metadata', {
      rule: 'In `evaluation_metadata` of `conversation_update`, `understood_intent` and `appropriate_response` are booleans, and `tone` and `next_action` are strings, if present.',
      statements: ['6.28', '6.29', '6.30', '6.31'],
      wrong: {
        'understood-a-number': ['/evaluation_metadata/understood_intent', 1],
        'appropriate-a-string': ['/evaluation_metadata/appropriate_response', 'yes'],
        'tone-listed': ['/evaluation_metadata/tone', ['calm']],
        'next-action-null': ['/evaluation_metadata/next_action', null],
      },
    }),
  }),
  legal: {
    'bare-updates': sends(
      'Omits the optional fields of `conversation_update`.',
      drop('/metadata'),
      drop('/evaluation_metadata'),
    ),
  },
};
