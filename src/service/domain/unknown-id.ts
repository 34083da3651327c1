import { brief } from '../../contract/index.ts';
import { suggestion } from '../../platform/suggest.ts';
import { InvalidDocumentError } from '../app/errors.ts';

const shownMax = 5;

/**
 * A reference that leads nowhere, with the id that was meant or some of those that there are. `what`
 * is what it should have named, e.g. "an eval".
 */
export function unknownId(
  pointer: string,
  what: string,
  got: string,
  known: readonly string[],
): InvalidDocumentError {
  const ids = [...new Set(known)];
  const more = ids.length > shownMax ? ` and ${ids.length - shownMax} more` : '';
  const shown = ids.slice(0, shownMax).join(', ');
  const all = ids.length === 0 ? '' : `there ${ids.length === 1 ? 'is' : 'are'} ${shown}${more}`;
  const hint = suggestion(got, ids, all);
  const says = `must be the id of ${what}, got ${brief(got)}`;
  return new InvalidDocumentError(pointer, hint === '' ? says : `${says}; ${hint}`);
}
