export {
  type Advertise,
  type ListeningServer,
  resolveAdvertisedAddress,
  type ResolveAdvertisedOptions,
  validateAddress,
} from './address.ts';
export { createRoleHolderProxy, roleHolderProxy, type RoleHolderHandler } from './create.ts';
export type { Decision, ForwardDecision, PassDecision, RefuseDecision } from './decision.ts';
export {
  type ForwardedMessage,
  type ForwardOutcome,
  type ProxyDiagnosticChannel,
  proxyDiagnosticChannels,
  type ProxyDiagnosticMessages,
  type RejectedMessage,
} from './diagnostics.ts';
export type { LocalFields } from './headers/merge.ts';
export { notHeldProblem, type NotHeldProblem } from './not-held.ts';
export type { RoleHolderProxyOptions } from './options.ts';
export type { PublicProblem } from './problem.ts';
export type { RefusalReason } from './refusal.ts';
export type { ConnectHandler, ProxyClient, RoleHolderProxy } from './role-holder-proxy.ts';
export type { HolderTarget, ProxyLeasehold, RoleLeaseView } from './target.ts';
export type { HolderTlsOptions } from './tls-options.ts';
