package io.github.virtualthread.migration;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.ScanningRecipe;
import org.openrewrite.SourceFile;
import org.openrewrite.Tree;
import org.openrewrite.TreeVisitor;
import org.openrewrite.java.tree.J;

/**
 * Replaces the annotations, and gives each limit the size of the pool that it takes the place of. First reads the whole project,
 * because the settings depend on classes in other files.
 */
public final class AsyncToVirtualThread extends ScanningRecipe<AsyncProject> {

    /** For OpenRewrite, which finds the name of this class in the YAML file. */
    public AsyncToVirtualThread() {}

    @Override
    public String getDisplayName() {
        return "Move methods from Async to VirtualThread";
    }

    @Override
    public String getDescription() {
        return "Replaces Spring's Async annotation, and sets limits of the size of the pools that bounded the calls.";
    }

    @Override
    public AsyncProject getInitialValue(ExecutionContext context) {
        return new AsyncProject();
    }

    @Override
    public TreeVisitor<?, ExecutionContext> getScanner(AsyncProject project) {
        return new TreeVisitor<Tree, ExecutionContext>() {
            @Override
            public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext context) {
                if (tree instanceof SourceFile file) {
                    project.read(file, context);
                }
                return tree;
            }
        };
    }

    @Override
    public List<SourceFile> generate(AsyncProject project, ExecutionContext context) {
        return project.newSettings();
    }

    @Override
    public TreeVisitor<?, ExecutionContext> getVisitor(AsyncProject project) {
        return new TreeVisitor<Tree, ExecutionContext>() {
            @Override
            public @Nullable Tree visit(@Nullable Tree tree, ExecutionContext context) {
                if (tree instanceof J.CompilationUnit source && AsyncProject.isMain(source)) {
                    return new AsyncAnnotations(name -> project.verdict(source, name)).visit(source, context);
                }
                return tree instanceof SourceFile file ? project.withLimits(file) : tree;
            }
        };
    }
}
