import type { RunRecord } from '../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../transcript/transcript.ts';

/** The one cause that keeps a run from being judged, found by the preflight or during the run. */
export interface BlockingCause {
  id:
    | 'unresolved'
    | 'refused'
    | 'tls'
    | 'proxy'
    | 'certificate_demanded'
    | 'certificate_refused'
    | 'plain_http'
    | 'timeout'
    | 'reset'
    | 'protocol'
    | 'malformed'
    | 'login_page'
    | 'refusal_page'
    | 'redirect'
    | 'key_refused'
    | 'empty'
    | 'not_json'
    | 'server_error'
    | 'all_refused'
    | 'wrongly_encoded'
    | 'wrong_length'
    | 'rate_limited'
    | 'too_large'
    | 'no_interface'
    | 'no_voice'
    | 'no_requests'
    | 'unreachable'
    | 'interrupted';
  /** What is wrong, in one sentence. */
  message: string;
  /** The fix. */
  cure: string;
  /** The exchange that shows the cause; undefined for an interrupted run. */
  evidence: Exchange | undefined;
  /** Only for `unreachable`: the requests that were in flight when the peer stopped. */
  suspects?: readonly Exchange[];
  /** The part of the run that can be judged: what happened before an interruption or a loss of the peer. */
  before?: Transcript;
}

/** The preflight of a run. For a request that was repeated after a 429, only the last exchange. */
export interface Preflight {
  run: RunRecord;
  exchanges: readonly Exchange[];
}
