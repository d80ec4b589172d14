#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

int main(int count, char **files) {
  for (int number = 1; number < count; ++number) {
    LLVMContext context;
    SMDiagnostic problem;
    auto module = parseIRFile(files[number], problem, context);
    if (!module) {
      problem.print(files[0], errs());
      return 1;
    }
    for (Function &function : *module) {
      if (function.isDeclaration())
        continue;
      DominatorTree tree(function);
      LoopInfo loops(tree);
      for (Loop *loop : loops.getLoopsInPreorder()) {
        auto trips = getLoopEstimatedTripCount(loop);
        outs() << function.getName() << " ";
        loop->getHeader()->printAsOperand(outs(), false);
        outs() << " " << (trips ? *trips : 0) << "\n";
      }
    }
  }
}
