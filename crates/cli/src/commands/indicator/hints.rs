//! Advice about deviations from the contract of indicators.

use lapwing_measure::indicator::IndicatorError;
use lapwing_model::indicator::ContractFinding;

/// Returns what to do about a finding.
pub fn hint(finding: &ContractFinding) -> &'static str {
    match finding {
        ContractFinding::NoOutput => "print the results with `json.dump(result, sys.stdout)`",
        ContractFinding::NotAnObject { .. } => "print a JSON object; NaN and Infinity are not JSON",
        ContractFinding::OtherText => "print progress and logs to standard error",
        ContractFinding::MissingKey { .. } => {
            "name, framework, @parameters and @result are required"
        }
        ContractFinding::WrongType { .. } => "docs/indicators.md shows a complete document",
        ContractFinding::SharedKeys { .. } => {
            "rename one: parameters and results are columns of one table"
        }
        ContractFinding::RepeatedKeys { .. } | ContractFinding::RepeatedMetrics { .. } => {
            "only one of the values could be recorded; give each a name of its own"
        }
        ContractFinding::NotInstalled { .. } => {
            "name the installed package that is measured, or install it"
        }
        ContractFinding::NoNumber => "every number in @result becomes a metric",
        ContractFinding::ParameterIgnored { .. } | ContractFinding::ParameterUnknown { .. } => {
            "read the parameter from the environment variable, and report it in @parameters under the variable's name in lower case, with or without its prefix"
        }
        ContractFinding::ScriptFailed { .. } => {
            "run the script by hand; it gets a cleared environment and a limit of memory (--keep-env, --memory-limit)"
        }
        ContractFinding::SameIdentity { .. } => {
            "give it another name, or report the difference in @parameters"
        }
        ContractFinding::NoScore => {
            "optional: one number for the whole result, for comparisons across indicators"
        }
        ContractFinding::Undeclared { .. } => {
            "declare them: \"@metrics\": {\"elapsed\": {\"unit\": \"s\", \"better\": \"lower\"}}; or use --better"
        }
        ContractFinding::ComponentKey => "accepted; the documented key is `framework`",
        ContractFinding::FrameworkCase { .. } => "use the name of the package on PyPI",
        ContractFinding::NotMetrics { .. } => "they are kept in the document",
        ContractFinding::MixedTypes { .. } => {
            "use one type, so that benchmarks can be filtered by the parameter"
        }
    }
}

/// Returns what to do about a script that cannot be measured.
pub fn indicator_hint(error: &IndicatorError) -> Option<String> {
    let hint = match error {
        IndicatorError::Unreadable { .. } => {
            "name a script, such as examples/indicators/matmul_numpy.py"
        }
        IndicatorError::NotExecutable { .. } => {
            "make it executable (`chmod +x`), or call it `….py`"
        }
        IndicatorError::Breach { finding, .. } => hint(finding),
        IndicatorError::SameBenchmark { .. } => {
            "give one of them another name, or report the difference in @parameters"
        }
        IndicatorError::UnknownParameter { .. } => {
            "`lapwing indicator check SCRIPT` shows the parameters that a script reports"
        }
        IndicatorError::NoEnvironment { .. }
        | IndicatorError::Interrupted
        | IndicatorError::Executor(_) => return None,
    };
    Some(hint.to_owned())
}
