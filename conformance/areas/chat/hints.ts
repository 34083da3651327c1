/** What usually helps against what stands at a place of a reply. */
export const hintAgainst = {
  content: (received: unknown): string =>
    Array.isArray(received)
      ? 'Join the parts into one string: a reply has no parts.'
      : 'Answer with a string, also where tools were called; "" if there is nothing to say.',

  confidence: (received: unknown): string | undefined =>
    typeof received === 'number' && received > 1
      ? 'It is a fraction, not a percentage.'
      : leftOutInstead(received),

  milliseconds: (received: unknown): string | undefined =>
    typeof received === 'number' ? 'It is in whole milliseconds.' : leftOutInstead(received),

  toolCalls: (received: unknown): string =>
    received === null || received === false
      ? 'Leave tool_calls out where no tool was called.'
      : 'It is an array of objects: {"id", "type": "function", "function": {...}}.',

  arguments: (received: unknown): string | undefined =>
    typeof received === 'object' && received !== null
      ? 'Encode them: a string that holds the JSON of an object.'
      : undefined,

  result: (received: unknown): string =>
    received === undefined
      ? 'Put what the tool gave beside its arguments, into the reply that was made from it.'
      : 'Put a result that is no object into one.',
};

const leftOutInstead = (received: unknown): string | undefined =>
  received === null ? 'Leave it out where it is not known.' : undefined;

/** What usually helps where a session id comes back as another one. */
export function echoHint(sent: string, received: string): string {
  const [asked, came] = [sent.toLowerCase(), received.toLowerCase()];
  if (asked === came) return 'Echo it letter for letter: case counts.';
  if (asked.includes(came) || came.includes(asked)) {
    return 'Echo it as it came, whole and with nothing added.';
  }
  return 'Take it from the request at hand: neither make one up, nor share it between requests.';
}
