import { brief } from '../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../engine/checks/check.ts';
import type { Answers } from '../../engine/checks/shape.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange } from '../../engine/transcript/reading.ts';

/** A tool call as it stands in a reply, whatever its shape, with the pointer to it. */
interface SeenCall {
  pointer: string;
  call: Record<string, unknown>;
  function: Record<string, unknown> | undefined;
}

function messagesOf(one: Exchange): [string, Record<string, unknown>][] {
  const choices = isObject(one.json) ? one.json['choices'] : undefined;
  if (!Array.isArray(choices)) return [];
  return choices.flatMap((choice: unknown, index) => {
    const message = isObject(choice) ? choice['message'] : undefined;
    return isObject(message)
      ? [[`/choices/${index}/message`, message] as [string, Record<string, unknown>]]
      : [];
  });
}

function callsOf(one: Exchange): SeenCall[] {
  return messagesOf(one).flatMap(([place, message]) => {
    const calls = message['tool_calls'];
    if (!Array.isArray(calls)) return [];
    return calls.flatMap((call: unknown, index) => {
      if (!isObject(call)) return [];
      const ran = call['function'];
      return [
        {
          pointer: `${place}/tool_calls/${index}`,
          call,
          function: isObject(ran) ? ran : undefined,
        },
      ];
    });
  });
}

/** On top of the arguments being a string: the string must be JSON. */
export function argumentsAreJson(isString: Check): Check {
  return {
    ...isString,
    judge: (evidence, transcript) => [
      ...isString.judge(evidence, transcript),
      ...evidence.flatMap((one) =>
        callsOf(one).flatMap(({ pointer, function: ran }): Finding[] => {
          const text = ran?.['arguments'];
          if (typeof text !== 'string' || isJson(text)) return [];
          return [
            {
              exchange: one.id,
              pointer: `${pointer}/function/arguments`,
              expected: 'JSON, encoded as a string',
              received: brief(text),
            },
          ];
        }),
      ),
    ],
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Each name in `tools_used` must have a call. Judged on the first turn of a conversation alone:
 * later the list may cover the turns before, since the specification does not say which it means.
 */
export function callsForToolsUsed(replies: Answers, unjudged: Check['unjudged']): Check {
  const namesOf = (one: Exchange): string[] => {
    const metadata = isObject(one.json) ? one.json['metadata'] : undefined;
    const names = isObject(metadata) ? metadata['tools_used'] : undefined;
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  };
  return checkEach(
    (one) => replies(one) && isFirstTurn(one) && hasNamedCalls(one) && namesOf(one).length > 0,
    (one) => {
      const called = new Set(callsOf(one).map(({ function: ran }) => ran?.['name']));
      return namesOf(one).flatMap((name, index): Finding[] =>
        called.has(name)
          ? []
          : [
              {
                exchange: one.id,
                pointer: `/metadata/tools_used/${index}`,
                expected: `a call of ${name} in tool_calls`,
                received: called.size === 0 ? 'no call' : `calls of ${[...called].join(', ')}`,
                hint: 'Put every call with its result into choices[].message.tool_calls.',
              },
            ],
      );
    },
    unjudged,
  );
}

/** Whether all calls of a reply can be read: a list that is broken is not one that lacks a call. */
function hasNamedCalls(one: Exchange): boolean {
  const messages = messagesOf(one);
  const isList = ([, message]: (typeof messages)[number]): boolean =>
    message['tool_calls'] === undefined || Array.isArray(message['tool_calls']);
  return (
    messages.length > 0 &&
    messages.every(isList) &&
    callsOf(one).every(({ function: ran }) => typeof ran?.['name'] === 'string')
  );
}

function isFirstTurn(one: Exchange): boolean {
  const messages = isObject(one.sent) ? one.sent['messages'] : undefined;
  return (
    Array.isArray(messages) &&
    !messages.some((message) => isObject(message) && message['role'] === 'assistant')
  );
}

/** A reply that holds a call without a result, and nothing to say, waits for the service to run it. */
export function toolsAreRun(replies: Answers, unjudged: Check['unjudged']): Check {
  return checkEach(
    (one) => replies(one) && callsOf(one).length > 0,
    (one) =>
      messagesOf(one).flatMap(([pointer, message]): Finding[] => {
        const waiting = callsOf(one).find(
          (seen) =>
            seen.pointer.startsWith(pointer) &&
            seen.function !== undefined &&
            !Object.hasOwn(seen.function, 'result'),
        );
        const silent = (message['content'] ?? '') === '';
        if (!waiting || !silent) return [];
        return [
          {
            exchange: one.id,
            pointer: waiting.pointer,
            expected: 'the result, and an answer made from it',
            received: 'a call that waits to be run',
            hint: 'Run the tool in the sandbox; the service has none.',
          },
        ];
      }),
    unjudged,
  );
}
