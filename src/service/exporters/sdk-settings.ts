/** What an SDK or an instrumentation needs so that the service can read its traces. */
export interface SdkSettings {
  /** The name that users know. */
  name: string;
  texts: readonly string[];
}
