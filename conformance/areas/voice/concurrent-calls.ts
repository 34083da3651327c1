/** Concurrent calls don't affect each other (spec 6). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { parseMessage } from '../../../src/voice/call/messages.ts';
import { type Check, checkEach, unjudgedAs } from '../../engine/checks/check.ts';
import type { CallEnds, VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import {
  callReadyIdOf,
  callReadyOf,
  eventsOf,
  hangUpMsOf,
  isConnected,
  isVoice,
  sandboxCloseOf,
  sandboxMessagesOf,
} from '../../engine/transcript/call-messages.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import { distortCalls, handleCalls, replaceMessages } from './call-transforms.ts';
import { callFinding } from './evidence.ts';
import { checkConnectedCalls, hasReply, packetsOf, STOP_MS_MAX } from './media-evidence.ts';
import { IDS_REASON, sentSessionId } from './message-ids.ts';
import { isVoiceStep } from './requests.ts';

const defaults = {
  inMedia: true,
  probes: ['voice/overlap'],
  wrapCheck: unlessAbsent,
} as const;

export const concurrentCalls: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-060': {
      rule: 'No message of a call contains an id of a concurrent call.',
      statements: ['6.12', '6.23', '6.11', '6.22'],
      reason: IDS_REASON,
      check: checkSeparateCalls(),
      mutants: {
        'updates-mixed-up': {
          ...distortCalls('Sends the `call_id` of a concurrent call in updates.', mixUpUpdates),
          alsoKills: ['VOICE-032'],
        },
      },
    },
    'VOICE-061': {
      rule: 'A call continues when a concurrent call hangs up.',
      statements: ['6.34', '4.9.5'],
      reason: 'The service runs simulations concurrently; one that ends must not end the others.',
      check: checkContinues(),
      mutants: {
        'ends-together': distortCalls('Ends all calls when one hangs up.', endTogether()),
      },
    },
  }),
};

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
  const isSent = (id: string, exchange: Exchange): boolean =>
    sandboxMessagesOf(exchange).some(({ event }) => event.text?.includes(JSON.stringify(id)));
  return checkEach(
    (exchange, transcript) =>
      idsOf(exchange).length > 0 &&
      callReadyOf(exchange) !== undefined &&
      concurrentCallsOf(exchange, transcript).length > 0,
    (exchange, transcript) => {
      const own = idsOf(exchange);
      return concurrentCallsOf(exchange, transcript).flatMap((other) =>
        idsOf(other)
          .filter((id) => !own.includes(id) && isSent(id, exchange))
          .map((id) => `${formatValue(id)}, an id of exchange ${other.id}`)
          .map((received) => callFinding(exchange, 'only ids of this call', received)),
      );
    },
    unjudgedAs('not_observed', 'No two calls were open at the same time.'),
  );
}

/** Returns the call id and the session id of a call. */
function idsOf(exchange: Exchange): string[] {
  return [callReadyIdOf(exchange), sentSessionId(exchange)].filter((id) => typeof id === 'string');
}

/** The kit speaks in the longer of two concurrent calls after the shorter one has hung up. */
function checkContinues(): Check {
  const shorterHangUpMsOf = ({ exchanges }: Transcript): number => {
    const shorter = exchanges.findLast(isVoiceStep('overlap'));
    return shorter && isConnected(shorter) ? hangUpMsOf(shorter) : Infinity;
  };
  return checkConnectedCalls(isVoiceStep('longer overlap'), (exchange, transcript) => {
    const hangUpMs = shorterHangUpMsOf(transcript);
    if (hangUpMs === Infinity) return undefined;
    const close = sandboxCloseOf(exchange);
    if (close && close.atMs >= hangUpMs - 100) {
      return ['a call that continues', `a closed WebSocket with ${close.code ?? 'no code'}`];
    }
    const spokeAfter = eventsOf(exchange, 'speech').some(({ untilMs = 0 }) => untilMs > hangUpMs);
    const sendsNow =
      hasReply(exchange) || packetsOf(exchange).some(({ atMs }) => atMs > hangUpMs + STOP_MS_MAX);
    const sentBefore = packetsOf(exchange).some(({ atMs }) => atMs < hangUpMs);
    return spokeAfter && sentBefore && !sendsNow ? ['audio as before', 'no audio'] : undefined;
  });
}

function mixUpUpdates(): ReturnType<VoiceTransformFactory> {
  const ids = new Map<CallEnds, unknown>();
  const transform = replaceMessages('conversation_update', (message, ends) => {
    const other = [...ids].find(([call]) => call !== ends && ends.all.has(call));
    return [other ? { ...message, call_id: other[1] } : message];
  })();
  return {
    handleCall(ends) {
      const handlers = transform.handleCall?.(ends) ?? {};
      return {
        ...handlers,
        fromSandbox(text) {
          const message = parseMessage(text);
          if (message?.['type'] === 'call_ready')
            ids.set(ends, resolvePointer(message, '/call_id'));
          handlers.fromSandbox?.(text);
        },
      };
    },
  };
}

/** Ends all other calls when a call with a spoken turn hangs up. */
function endTogether(): VoiceTransformFactory {
  return handleCalls((ends) => {
    let hasTurn = false;
    return {
      fromSandbox(text) {
        hasTurn ||= parseMessage(text)?.['type'] === 'conversation_update';
        ends.toKit(text);
      },
      onKitClose() {
        ends.closeSandbox();
        if (hasTurn) for (const other of ends.all) if (other !== ends) other.closeKit(1000);
      },
    };
  });
}
