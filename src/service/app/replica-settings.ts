import { SERVICE_API_KEY_HEADER } from '../../contract/index.ts';
import { quoteUrl } from '../../platform/base-url.ts';
import { DAY_MS } from '../../platform/clock.ts';
import type { ReplicaSettings } from '../store/store.ts';
import type { ServiceOptions } from './options.ts';

const NOT_SET = 'not set';

/** Returns the options that must be the same on all replicas, by their names in `serve`. */
export function listReplicaSettings(options: Partial<ServiceOptions>): ReplicaSettings {
  const { retentionMs, apiKeyHeader = SERVICE_API_KEY_HEADER, appUrl, judge, userModel } = options;
  return {
    '--retention': retentionMs === undefined ? NOT_SET : `${retentionMs / DAY_MS}d`,
    '--api-key-header': apiKeyHeader.toLowerCase(),
    '--app-url': appUrl === undefined ? NOT_SET : quoteUrl(appUrl.replace(/\/+$/, '')),
    SANDBOX_KIT_JUDGE_MODEL: judge?.model ?? NOT_SET,
    SANDBOX_KIT_USER_MODEL: userModel?.model ?? NOT_SET,
  };
}

/** An option whose value differs from the one of a running replica. */
export interface SettingsDifference {
  option: string;
  here: string;
  other: string;
}

/** Returns each option that differs from those of other replicas, with the first other value. */
export function findSettingsDifferences(
  own: ReplicaSettings,
  others: readonly ReplicaSettings[],
): SettingsDifference[] {
  return Object.entries(own).flatMap(([option, here]) => {
    const other = others
      .map((settings) => settings[option])
      .find((value) => value !== undefined && value !== here);
    return other === undefined ? [] : [{ option, here, other }];
  });
}
