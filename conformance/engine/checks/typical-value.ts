import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import type { Exchange } from '../transcript/reading.ts';
import { checkEach, type Check } from './check.ts';
import type { ExchangeFilter } from './shape.ts';

/** Compares a value with the one that the specification calls typical or shows as an example. */
export function checkTypicalValue(
  filter: ExchangeFilter,
  place: string,
  typical: unknown,
  unjudged: Check['unjudged'],
): Check {
  const pointer = place.replace('*', '0');
  const valueOf = (exchange: Exchange): unknown => resolvePointer(exchange.json, pointer);
  return checkEach(
    (exchange) => filter(exchange) && valueOf(exchange) !== undefined,
    (exchange) =>
      valueOf(exchange) === typical
        ? []
        : [
            {
              exchange: exchange.id,
              pointer,
              expected: `typically ${formatValue(typical)}`,
              received: formatValue(valueOf(exchange)),
            },
          ],
    unjudged,
  );
}
