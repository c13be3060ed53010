export {
  type Advertise,
  type ListeningServer,
  resolveAdvertisedAddress,
  type ResolveAdvertisedOptions,
  validateAddress,
} from './address.ts';
export {
  createPartitionHolderProxy,
  createRoleHolderProxy,
  partitionHolderProxy,
  roleHolderProxy,
  type RoleHolderHandler,
} from './create.ts';
export type { Decision, ForwardDecision, PassDecision, RefuseDecision } from './decision.ts';
export {
  type ForwardedMessage,
  type ForwardOutcome,
  type ProxyDiagnosticChannel,
  proxyDiagnosticChannels,
  type ProxyDiagnosticMessages,
  type RedirectedMessage,
  type RejectedMessage,
} from './diagnostics.ts';
export type { LocalFields } from './headers/merge.ts';
export type { AnyRequest, AnyResponse } from './http2.ts';
export type { RoleHolderProxyOptions } from './options.ts';
export type { AffinityKey, PartitionHolderProxyOptions } from './partition-options.ts';
export type { PublicProblem } from './problem.ts';
export type { RefusalReason } from './refusal.ts';
export type { ConnectHandler, ProxyClient, RoleHolderProxy } from './role-holder-proxy.ts';
export type {
  HolderTarget,
  HolderView,
  PartitionLeasehold,
  PartitionView,
  ProxyLeasehold,
  RoleLeaseView,
  ThisInstance,
} from './target.ts';
export type { HolderTlsOptions } from './tls-options.ts';
