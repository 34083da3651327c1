/** Conversations that are closed after 24 hours without activity (spec 3.1, 8). */
import { DAY_MS } from '../../../../src/platform/clock.ts';
import { unjudgedAs, type Check } from '../../../engine/checks/check.ts';
import { withBody } from '../../../engine/mutants/combinators.ts';
import type { Transform } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Transcript } from '../../../engine/transcript/reading.ts';
import { requireControlApi, requireIntrusiveRun } from '../findings.ts';
import { sessionsIn } from '../results-api.ts';
import { clockAdvanceMs, intrusiveOnly, onPages } from '../transforms.ts';
import { lists } from './evidence.ts';
import { isStep } from '../transcript.ts';

export const idleConversations: Subject = {
  requirements: withDefaults(
    { observability: 'provoked', probes: ['service/limits'] },
    {
      'SERVICE-058': {
        rule: 'The service closes and scores a conversation after 24 idle hours.',
        statements: ['3.1.8', '3.1.9', '8.a5'],
        reason: 'A conversation that no client closes would never be scored.',
        check: listsWhenIdle('after 24 hours', true),
        mutants: {
          'never-idle': {
            description: 'Never closes idle conversations.',
            transform: neverCloseIdle,
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-059': {
        rule: 'The service does not close a conversation after 23 idle hours.',
        statements: ['8.a5'],
        reason: 'Turns that arrive after the close would not be scored.',
        check: listsWhenIdle('after 23 hours', false),
        mutants: {
          'idle-too-soon': {
            description: 'Closes conversations after 12 idle hours.',
            transform: doubleClockAdvance,
            ...intrusiveOnly,
          },
        },
      },
    },
  ),
};

/** Judges idle conversations only if every request that advances the clock was accepted. */
function listsWhenIdle(pageStep: string, isListed: boolean): Check {
  const check = lists(
    'idle',
    pageStep,
    isListed,
    requireIntrusiveRun(
      requireControlApi(
        unjudgedAs(
          'not_observed',
          'The check needs a control API that can advance the clock.',
          'Serve the route of the clock.',
        ),
      ),
    ),
  );
  const isAdvanced = ({ exchanges }: Transcript): boolean =>
    exchanges.filter((exchange) => isStep(exchange, 'admin', 'clock')).every(isAccepted);
  return {
    ...check,
    evidence: (transcript) => (isAdvanced(transcript) ? check.evidence(transcript) : []),
  };
}

/** Hides the only session of an owner after the clock was advanced by a day. */
function neverCloseIdle(): Transform {
  let advancedMs = 0;
  const hideIdle = onPages('production', (page) => {
    if (advancedMs >= DAY_MS && sessionsIn(page).length === 1) {
      Object.assign(page, { items: [], total: 0 });
    }
  })();
  return async (request, forward, clock) => {
    advancedMs += clockAdvanceMs(request);
    return hideIdle(request, forward, clock);
  };
}

/** Advances the clock twice as far, which has the same effect as an idle period of 12 hours. */
function doubleClockAdvance(): Transform {
  return async (request, forward) => {
    const ms = clockAdvanceMs(request);
    return forward(ms === 0 ? request : withBody(request, JSON.stringify({ advance_ms: ms * 2 })));
  };
}
