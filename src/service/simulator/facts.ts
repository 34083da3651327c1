import type { ScenarioFact } from '../../contract/index.ts';
import { says } from './conditions.ts';

/** Whether a reply asks for a fact: by its words for it, whatever the case. */
export function asksFor({ name, asked_by: words }: ScenarioFact, reply: string): boolean {
  return (words ?? [name]).some((one) => says(reply, one));
}

/** The user's line that tells a fact. */
export function toldAs({ value, say }: ScenarioFact): string {
  // As a function: in a text, `$&` would mean something.
  return say === undefined ? value : say.replaceAll('{value}', () => value);
}
