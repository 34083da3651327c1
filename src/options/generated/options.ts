// Generated from tables of options by packaging/generate-options.ts, do not edit.
import type { ClientCertificate } from '../../platform/connection.ts';
import type { ProxySettings } from '../../platform/proxy.ts';
import type { StopSignal } from '../../platform/clock.ts';

/** Options of every run: the connection, the seed, and the signal. */
export interface RunOptions {
  /** Base URL of the sandbox or service. */
  url: string;
  /** The bearer key of the sandbox, or the key of the service (default: no key). */
  apiKey?: string | undefined;
  /**
   * Sends `apiKey` and `headers` also over plain HTTP to another machine (default: false, which
   * rejects such a URL).
   */
  allowHttp?: boolean | undefined;
  /**
   * Headers of every request and of the voice WebSocket, for example for a gateway. Reports never
   * contain their values.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** CA certificates in PEM to trust in addition to the built-in ones. */
  ca?: string | undefined;
  /** Client certificate: `cert`, `key`, and the `passphrase` of the key. */
  clientCertificate?: ClientCertificate | undefined;
  /**
   * URLs of the proxies for `https:` and `http:`, and the hosts to reach directly. The library does
   * not read `HTTPS_PROXY`.
   */
  proxies?: ProxySettings | undefined;
  /** Random seed of all ids; repeats an earlier run (default: random). */
  seed?: string | undefined;
  /**
   * Stops the run. The promise still resolves: the report covers the run until then, like the
   * report of the command after Ctrl-C.
   */
  signal?: StopSignal | undefined;
}

/** Settings of the calls of a run. */
export interface CallTarget {
  /** URL of the voice WebSocket (default: `/voice` of the sandbox). */
  url?: string | undefined;
  /** Type of the message with the WebRTC answer (default: webrtc_answer). */
  answerType?: string | undefined;
  /** Field of that message with the answer (default: webrtc_answer). */
  answerField?: string | undefined;
  /** IP address of this machine for media (default: the address that reached the WebSocket). */
  mediaAddress?: string | undefined;
}
