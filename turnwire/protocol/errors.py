"""The root of all errors that turnwire raises on purpose."""


class TurnwireError(Exception):
    """Something is wrong that was foreseen; the text says whose fault, where, and what to do.

    Those that are a ValueError as well are raised where a value of a configuration or a command is checked.

        turnwire.adapter.acp.files.FileRefused
        turnwire.adapter.acp.terminals.TerminalRefused
        turnwire.adapter.hooks.programs.HookFailed
        turnwire.adapter.hooks.settings.HookError
        turnwire.adapter.mcp.mcp_host.McpError
        turnwire.adapter.options.CommandError
        turnwire.adapter.permissions.answers.InvalidAnswer
        turnwire.adapter.permissions.rules.RuleError
        turnwire.adapter.process.cli.ProgramNotFound
        turnwire.adapter.process.environment.EnvironmentRefused
        turnwire.adapter.process.terminal.InputFull
        turnwire.adapter.process.transport.ProcessGone
        turnwire.adapter.sandbox.gate.HostRefused
        turnwire.adapter.sandbox.ports.NoPort
        turnwire.adapter.sandbox.profile.ProfileError
        turnwire.adapter.sandbox.proxy.BadRequest
        turnwire.adapter.sandbox.settings.SandboxUnavailable
        turnwire.adapter.session.agent.AnswerRefused
        turnwire.adapter.session.agent.RequestFailed
            turnwire.adapter.acp.client.AgentError
            turnwire.adapter.acp.handshake.LoginNeeded
        turnwire.adapter.session.agent.RequestTimeout
        turnwire.adapter.session.attachments.AttachmentRefused
        turnwire.adapter.session.prompts.TooManyPrompts
        turnwire.adapter.workspace.changes.UnknownFile
        turnwire.adapter.workspace.files.NotShown
        turnwire.adapter.workspace.git.GitRefused
        turnwire.adapter.workspace.repository.GitFailed
        turnwire.adapter.workspace.worktree_actions.Changed
        turnwire.config.agents.AgentNotFoundError
        turnwire.config.known_agents.AgentsFileError
        turnwire.config.secrecy.SecretsNotPassed
        turnwire.config.settings.ConfigurationError
        turnwire.fleet.errors.NameTaken
        turnwire.fleet.errors.OperationRefused
        turnwire.history.index.HistoryError
        turnwire.hub.delivery.pages.LogUnreadable
        turnwire.hub.delivery.subscription.SinkClosed
        turnwire.hub.host.CommandRefused
        turnwire.hub.hub.CertificateError
        turnwire.hub.principals.BadPrincipal
        turnwire.hub.server.access.AccessError
        turnwire.hub.server.access.WrongToken
        turnwire.hub.server.http.BadCursor
        turnwire.hub.server.port_server.BadHead
        turnwire.journal.base.JournalError
            turnwire.journal.base.JournalUnavailable
                turnwire.journal.base.JournalInUse
                turnwire.journal.base.LogUnreadable
        turnwire.journal.plugins.UnknownJournal
        turnwire.normalize.families.UnknownFamily
        turnwire.outbound.push.endpoints.EndpointRefused
        turnwire.outbound.push.keys.KeyRefused
        turnwire.outbound.webhooks.message.BadSecret
        turnwire.protocol.claude.encode.EncodeError
        turnwire.recordings.filters.translate.InputError
        turnwire.recordings.recorded.RecordingError
            turnwire.recordings.recorded.Unread
        turnwire.runner.client.RunError
        turnwire.runner.family.RunFailed
        turnwire.runner.output.OutputLost
        turnwire.scripted_agent.acp.connection.RpcError
        turnwire.scripted_agent.acp.turn.TurnStops
        turnwire.scripted_agent.claude.claude_session.TurnEnds
        turnwire.scripted_agent.claude.host.BadInput
        turnwire.scripted_agent.loading.ScriptError
        turnwire.scripted_agent.recording.RecordingError
        turnwire.sidecar.cli.prompt.PromptError
        turnwire.sidecar.principals.file.TokensUnusable
        turnwire.sidecar.serving.attached.NotStarted
        turnwire.sidecar.serving.listening.PortError
        turnwire.sidecar.serving.qr.NoCode
        turnwire.sidecar.serving.run.StartError
            turnwire.sidecar.streams.acp.command.NoHub
        turnwire.sidecar.streams.record.command.RecordError
        turnwire.sidecar.streams.sdk.options.BadOption
        turnwire.sidecar.streams.stdio.arguments.UsageError
        turnwire.tracing.export.wanted.TracingError
        turnwire.tracing.prices.PricesError
    """
