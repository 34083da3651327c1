/** The blocking cause of a peer that refuses the key, or requires one that is not set. */
import { endOnce } from '../../../src/platform/sandbox-kit-error.ts';
import type { Suite } from '../area.ts';
import { findOwnMessage } from '../transcript/own-message.ts';
import { isAccepted, isKeyRefused, toPrintable, type Exchange } from '../transcript/reading.ts';
import type { BlockingCause, Preflight } from './blocking-cause.ts';

/** Returns the refusal of the key, and the form in which the peer accepts it, if there is one. */
export function findKeyRefusal(preflight: Preflight, suite: Suite): BlockingCause | undefined {
  const keyed = suite.findKeyedExchange(preflight);
  if (!keyed || !isKeyRefused(keyed)) return undefined;
  const { peer, cures } = suite;
  const cause = { id: 'key_refused', evidence: keyed } as const;
  const status = keyed.response?.status;
  const accepted = findAcceptedForm(keyed, preflight);
  if (accepted?.scheme !== undefined) {
    return {
      ...cause,
      message: `The ${peer} refuses the key in "Authorization: Bearer KEY" with ${status}, and accepts it in "Authorization: ${accepted.scheme}KEY".`,
      cure: 'Accept the key after the word Bearer: the service sends it in this form.',
    };
  }
  if (accepted) {
    return {
      ...cause,
      message: `The ${peer} refuses the key in the header "authorization" with ${status}, and accepts it in "${accepted.name}".`,
      cure: 'Ignore the case of header names: HTTP clients and proxies write them in any case.',
    };
  }
  const own = findOwnMessage(keyed);
  const quote = own === undefined ? '' : `: ${JSON.stringify(toPrintable(own, 80))}`;
  return preflight.run.keyGiven
    ? {
        ...cause,
        message: endOnce(`The ${peer} refuses the key with ${status}${quote}.`),
        cure: cures.keyRefused,
      }
    : {
        ...cause,
        message: `The ${peer} requires a key, but none is set (${status}${quote}).`,
        cure: cures.keyMissing,
      };
}

/** The form of the header in which the key was accepted. */
interface AcceptedForm {
  name: string;
  /** What precedes the key; undefined if only the name of the header differs. */
  scheme: string | undefined;
}

/** Returns the form in which the key was accepted; undefined if it is refused anyway. */
function findAcceptedForm(keyed: Exchange, { exchanges }: Preflight): AcceptedForm | undefined {
  const accepted = exchanges.find(
    (other) => other.endpoint === keyed.endpoint && other.intent === 'open' && isAccepted(other),
  );
  const [sent, header] = [keyed, accepted].map(findKeyHeader);
  if (!sent || !header) return undefined;
  const [name, value] = header;
  const scheme = name === sent[0] ? (/^bearer /i.exec(value)?.[0] ?? '') : undefined;
  return { name, scheme };
}

/** Returns the name and the value of the header with the key of a sandbox. */
const findKeyHeader = (exchange: Exchange | undefined): [string, string] | undefined =>
  Object.entries(exchange?.request.headers ?? {}).find(
    ([name]) => name.toLowerCase() === 'authorization',
  );
