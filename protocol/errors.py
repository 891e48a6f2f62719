"""The root of all errors that turnwire raises on purpose."""


class TurnwireError(Exception):
    """Something is wrong that was foreseen; the text says whose fault, where, and what to do.

    Those that are a ValueError as well are raised where a value of a configuration or a command is checked.

        adapter.acp.files.FileRefused
        adapter.acp.prompts.TooManyPrompts
        adapter.acp.terminals.TerminalRefused
        adapter.hooks.programs.HookFailed
        adapter.hooks.settings.HookError
        adapter.mcp.host.McpError
        adapter.options.CommandError
        adapter.permissions.answers.InvalidAnswer
        adapter.permissions.rules.RuleError
        adapter.process.cli.ProgramNotFound
        adapter.process.environment.EnvironmentRefused
        adapter.process.transport.ProcessGone
        adapter.session.agent.AnswerRefused
        adapter.session.agent.RequestFailed
            adapter.acp.client.AgentError
            adapter.acp.handshake.LoginNeeded
        adapter.session.agent.RequestTimeout
        adapter.session.attachments.AttachmentRefused
        adapter.workspace.changes.UnknownFile
        adapter.workspace.repository.GitFailed
        fleet.errors.NameTaken
        hub.delivery.subscription.LogUnreadable
        hub.delivery.subscription.SinkClosed
        hub.host.CommandRefused
        hub.hub.CertificateError
        hub.principals.BadPrincipal
        hub.server.access.AccessError
        hub.server.access.WrongToken
        hub.server.http.BadCursor
        journal.base.JournalError
            journal.base.JournalUnavailable
                journal.base.JournalInUse
                journal.base.LogUnreadable
        protocol.claude.encode.EncodeError
        runner.client.RunError
        runner.family.RunFailed
        runner.output.OutputLost
        scripted_agent.acp.connection.RpcError
        scripted_agent.acp.turn.TurnStops
        scripted_agent.claude.host.BadInput
        scripted_agent.claude.session.TurnEnds
        scripted_agent.loading.ScriptError
        scripted_agent.recording.RecordingError
        sidecar.cli.prompt.PromptError
        sidecar.config.agents.AgentNotFoundError
        sidecar.config.prices.PricesError
        sidecar.config.secrecy.SecretsNotPassed
        sidecar.config.settings.ConfigurationError
        sidecar.library.index.LibraryError
        sidecar.outbound.push.endpoints.EndpointRefused
        sidecar.outbound.push.keys.KeyRefused
        sidecar.outbound.webhooks.message.BadSecret
        sidecar.principals.file.TokensUnusable
        sidecar.recordings.filters.translate.InputError
        sidecar.serving.listening.PortError
        sidecar.serving.qr.NoCode
        sidecar.serving.run.StartError
            sidecar.streams.acp.command.NoHub
        sidecar.streams.stdio.arguments.UsageError
        tracing.export.wanted.TracingError
        tracing.recordings.recorded.RecordingError
    """
